/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_methods.h - names, files and lines of the methods of one HotSpot virtual machine.
 *
 * Each is read once, gets a number and is written to the jitdump (formats/perf/jitdump.h). Metaspace, where methods are, does not
 * move; a method of another class at the address of an unloaded one has another ConstMethod, which is detected.
 */
#ifndef RUNTIME_HOTSPOT_METHODS_H
#define RUNTIME_HOTSPOT_METHODS_H

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "record/runtime/hotspot_layout.h"

#define HOTSPOT_METHODS_MAX (1U << 16)
#define HOTSPOT_LINES_MAX   (16U << 20) /* bytes of all line tables together; beyond that methods have none */
#define HOTSPOT_SYMBOL_MAX  512 /* bytes of a name that are kept */
#define HOTSPOT_NAME_MAX    1040 /* with its class, and a NUL */

struct hotspot_method {
	uint64_t constant; /* address of its ConstMethod */
	/* What that has and leads to, which tells it from one that lay there before: classes are unloaded, and their memory used again. */
	uint64_t pool, holder, holder_name;
	uint64_t loader; /* of its class */
	uint16_t name_index;
	bool is_gone;
	uint64_t bytecode; /* address and length */
	uint32_t bytecode_len;
	uint8_t *lines; /* HotSpot's compressed table; NULL if there is none */
	size_t lines_len;
	unsigned lines_tries; /* to read a table that was not in memory */
	bool is_known; /* its bytecode has been written as code */
	char *name; /* "java.util.ArrayList.add" */
};

/* Zeroed is empty. */
struct hotspot_methods {
	const struct hotspot_layout *layout;
	struct map by_address; /* -> index in @items */
	VEC(struct hotspot_method) items;
	size_t lines_len, names_len; /* bytes, of all */
	uint64_t seen_ns; /* the caller's: until when those that turn out to be gone were there */
};

void hotspot_methods_deinit(struct hotspot_methods *methods);

/* The number of the Method at @addr, which is written to @out if it is new. False if it cannot be read, or there are too many. */
bool hotspot_methods_get(struct hotspot_methods *methods, struct managed_view *view, uint64_t addr,
			 struct writer *out, uint32_t *ret);

/* The method @m is gone; another one may be at its address. */
void hotspot_methods_retire(const struct hotspot_methods *methods, struct hotspot_method *m, struct writer *out);

/* Of all class loaders, only @loaders are left. */
void hotspot_methods_retire_others(struct hotspot_methods *methods, const struct map *loaders, struct writer *out);

/*
 * Compare the methods from *@pos on whose bytecode was written as code with memory, within the limits of @view; bytecode that is gone is
 * written to @out. True when complete.
 */
bool hotspot_methods_compare(struct hotspot_methods *methods, struct managed_view *view, size_t *pos, struct writer *out);

/* The source line of bytecode @bci of method @number; 0 if it is not known. */
uint32_t hotspot_methods_line(const struct hotspot_methods *methods, uint32_t number, uint32_t bci);

/* The Symbol in slot @index of the constant pool at @pool, with a NUL; what does not belong into a name is a '?'. */
bool hotspot_pool_symbol(struct managed_view *view, const struct hotspot_layout *layout, uint64_t pool, uint16_t index,
			 char ret[HOTSPOT_SYMBOL_MAX + 1]);

/*
 * The next number at data[*pos], of @len bytes, in HotSpot's UNSIGNED5; 0 behind the end. @jdk decides how its digits count.
 */
uint32_t hotspot_unsigned5(const uint8_t *data, size_t len, size_t *pos, unsigned jdk);

#endif
