/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_symbols.h - which symbols of a large table matter for some addresses, without sorting it.
 *
 *	for each symbol: if (near_symbols_may_matter(n, vaddr, len)) near_symbols_note(n, vaddr, len);
 *	near_symbols_choose(n);
 *	for each symbol: if (near_symbols_matters(n, vaddr)) take it;
 *
 * Those that cover one of the addresses; where none does, the next one below, what it may be a label in, and the next one above,
 * which ends it if it has no length.
 */
#ifndef ELF_NEAR_SYMBOLS_H
#define ELF_NEAR_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct near_symbols;

/* @addresses ascend, and must outlive the result. */
struct near_symbols *near_symbols_new(const uint64_t *addresses, size_t count);
void near_symbols_free(struct near_symbols *near);

/* Could a symbol at @vaddr change what is known so far? @len is 0 if it has none. */
bool near_symbols_may_matter(const struct near_symbols *near, uint64_t vaddr, uint64_t len);
void near_symbols_note(struct near_symbols *near, uint64_t vaddr, uint64_t len);

/* All have been noted. */
void near_symbols_choose(struct near_symbols *near);
bool near_symbols_matters(const struct near_symbols *near, uint64_t vaddr);

#endif
