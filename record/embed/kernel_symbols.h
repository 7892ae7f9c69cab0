/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.h - the names of the kernel functions that recorded addresses lie in, and where these begin and end.
 *
 * From one pass over /proc/kallsyms, modules included, and from the kernel's records of code that came and
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

/* So much code that came while the recorder ran is kept by name. */
#define KERNEL_SYMBOLS_TOLD_MAX (1U << 17)

/* So many addresses; of more, those that were not seen for longest are dropped. The kernel's code has about as many calls. */
#define KERNEL_SYMBOLS_ADDRESSES_MAX (1U << 18)

/* Code of the kernel's records. */
struct kernel_code {
	uint64_t addr, len;
	const char *name;
};

struct kernel_symbols {
	struct arena arena;
	struct map addresses; /* seen lately: to the samples taken there */
	struct map older;     /* not seen since half of the most were */
	uint64_t dropped;     /* addresses */
	VEC(struct kernel_code) told;
	uint64_t left_out; /* that were not kept, as there were KERNEL_SYMBOLS_TOLD_MAX */
};

/* Ascending, each once. */
struct kernel_symbol_list {
	struct recording_ksym *items;
	size_t len, cap;
};

/*
 * A function with recorded addresses that is in the kernel now, as far as it is code and nothing else: no symbol of any
 * kind lies in it, and where nothing of the same module follows it ends with the page of the last recorded address.
 */
struct kernel_function {
	uint64_t begin, end;
	uint64_t leaves; /* samples taken in it */
	bool own;        /* the kernel's, not a module's or a BPF program's */
};

struct kernel_function_list {
	struct kernel_function *items; /* ascending, each once */
	size_t len, cap;
};

/*
 * An address in the kernel was seen, by so many samples taken there (0: a caller's). True: half of the most are new since it last
 * was, and what is not touched from now on is dropped the next time.
 */
bool kernel_symbols_touch(struct kernel_symbols *symbols, uint64_t ip, uint64_t leaves);

/* Forget all addresses. */
void kernel_symbols_forget(struct kernel_symbols *symbols);

/* Before reading: all addresses into @addresses. */
void kernel_symbols_join(struct kernel_symbols *symbols);

/* Code appeared; what is removed is remembered nevertheless. */
void kernel_symbols_tell(struct kernel_symbols *symbols, const struct event_ksymbol *ev);

/*
 * Fill @ret with the symbols for all addresses touched, from @kallsyms (NULL: it cannot be read), and @ret_functions with
 * the functions among them. Strings live as long as @symbols. False if it hides its addresses (kernel.kptr_restrict).
 */
bool kernel_symbols_read(struct kernel_symbols *symbols, FILE *kallsyms,
			 struct kernel_symbol_list *ret,
			 struct kernel_function_list *ret_functions);

void kernel_symbols_deinit(struct kernel_symbols *symbols);

#endif
