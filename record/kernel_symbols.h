/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.h - the names of the kernel functions that recorded addresses lie in.
 *
 * From one pass over /proc/kallsyms, modules included, and from what the kernel told of code that came and
 * went (BPF programs, trampolines). A zeroed struct is ready.
 */
#ifndef RECORD_KERNEL_SYMBOLS_H
#define RECORD_KERNEL_SYMBOLS_H

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Code that the kernel told of. */
struct kernel_code {
	uint64_t addr, len;
	const char *name;
};

struct kernel_symbols {
	struct arena arena;
	struct map addresses;
	VEC(struct kernel_code) told;
};

/* Ascending, each once. */
struct kernel_symbol_list {
	struct recording_ksym *items;
	size_t len, cap;
};

/* An address in the kernel was seen. */
void kernel_symbols_touch(struct kernel_symbols *symbols, uint64_t ip);

/* Code appeared; what is removed is remembered nevertheless. */
void kernel_symbols_tell(struct kernel_symbols *symbols, const struct event_ksymbol *ev);

/*
 * Fill @ret with the symbols for all addresses touched, from @kallsyms (NULL: it cannot be read). Strings
 * live as long as @symbols. False if it hides its addresses (kernel.kptr_restrict).
 */
bool kernel_symbols_read(struct kernel_symbols *symbols, FILE *kallsyms,
			 struct kernel_symbol_list *ret);

void kernel_symbols_deinit(struct kernel_symbols *symbols);

#endif
