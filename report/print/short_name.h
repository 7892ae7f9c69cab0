/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_name.h - long C++ and Rust names made short in steps, as the pages do (report/page/web/names.js): without
 * arguments, without template arguments, without namespaces from the left; here, where columns are few, a class is cut
 * before it is left out.
 *
 *	std::vector<int, std::allocator<int> >::push_back(int&&)
 *	std::vector<int, std::allocator<int> >::push_back
 *	std::vector<…>::push_back
 *	vector<…>::push_back
 *	vect…::push_back
 *	push_back
 *
 * Never at the first parenthesis: "(anonymous namespace)::f(int)", "operator()" and "f(int)::{lambda(char)#1}::operator()(char)
 * const" keep what tells them apart.
 */
#ifndef REPORT_SHORT_NAME_H
#define REPORT_SHORT_NAME_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The longest form of @name, which is escaped, of at most @columns columns; the shortest if none is, which is the caller's to cut.
 * The mark for what was left out is "…" or, without @utf8, "..". Kept in @arena, or @name itself.
 */
const char *short_name(struct arena *arena, const char *name, size_t columns, bool utf8);

#endif
