/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - linkage names of C++ and Rust as their source spells them.
 *
 * Each distinct name is demangled once. Names are hostile: one that would expand beyond
 * DEMANGLE_LEN_MAX stays as it is. Not thread-safe.
 */
#ifndef SYMBOLIZE_DEMANGLE_H
#define SYMBOLIZE_DEMANGLE_H

#define DEMANGLE_LEN_MAX 65536

struct demangler;

enum demangle_how {
	DEMANGLE_FULL,
	DEMANGLE_SIMPLE, /* without arguments and return types: overloads look the same */
	DEMANGLE_OFF,	 /* for those who have a choice: a demangler always demangles */
};

struct demangler *demangler_new(enum demangle_how how);
void demangler_free(struct demangler *d);

/*
 * @linkage_name demangled, or a copy of it if it is not mangled. Clones keep their mark as
 * " [clone .cold]", PLT slots their "@plt", Rust's hash is dropped. Valid until demangler_free().
 */
const char *demangler_name(struct demangler *d, const char *linkage_name);

#endif
