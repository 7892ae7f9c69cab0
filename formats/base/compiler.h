/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.h - the few attributes and macros that every module uses.
 */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

/* The caller must look at the result: the compiler warns when it is dropped. */
#define MUST_USE __attribute__((warn_unused_result))

/* @fmt and @args are the positions, from 1, of a printf format and its first argument. */
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Run @destructor on the address of the variable when its scope ends. */
#define CLEANUP(destructor) __attribute__((cleanup(destructor)))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* -1, 0 or 1 as @a is less than, equal to or greater than @b: what qsort() wants. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#endif
