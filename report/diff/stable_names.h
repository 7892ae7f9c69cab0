/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stable_names.h - names that stay the same when a program is built again.
 *
 * What a compiler, linker or packager adds and changes from build to build is taken off, so that two recordings of two
 * builds meet. What is taken off, and so no longer distinguished:
 *
 *	functions	f.isra.0, f.constprop.1, f.part.2, f.cold, f.lto_priv.3, f.llvm.1234, f.localalias,
 *			f(int) [clone .isra.0]		f
 *			f::h0123456789abcdef		f (the hash of a Rust function)
 *			core[846817f741e54dfd]::f	core::f (that of a Rust crate)
 *			memcpy@@GLIBC_2.14		memcpy (but memcpy@plt stays)
 *			{lambda(int)#2}, {closure#2}	{lambda(int)}, {closure}; stable_names_numbered() keeps the number
 *			main::$_2			main::$_ (clang's lambdas); the same
 *			[module+0x1234]			[module] (no symbol; not where all builds are the same)
 *	modules		/a/b/libfoo.so.1.2		libfoo.so
 *			libfoo-1.2.so			libfoo.so
 *			prog (deleted)			prog
 *			perf-4711.map, [jit 4711]	perf.map, [jit]
 *	source files	/a/b/f.c			f.c
 */
#ifndef REPORT_STABLE_NAMES_H
#define REPORT_STABLE_NAMES_H

#include "formats/base/arena.h"

/* Each returns @name itself where there is nothing to take off, else a text in @arena. */
const char *stable_names_function(struct arena *arena, const char *name);
const char *stable_names_numbered(struct arena *arena, const char *name);
const char *stable_names_module(struct arena *arena, const char *name);

#endif
