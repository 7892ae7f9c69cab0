/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - unit tests: a file of TEST()s is all there is to write.
 *
 *	TEST(reader_stops_at_the_end)
 *	{
 *		struct reader r;
 *
 *		reader_init(&r, guarded("ab", 2), 2, false);
 *		CHECK_UINT(reader_u16(&r, "field"), 0x6261);
 *	}
 *
 * Tests register themselves, run one after another in one process on cmocka, and stop at the first check
 * that fails. A test's name is a sentence about behaviour.
 */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include "formats/base/compiler.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct test {
	const char *name;
	const char *file;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *test);

#define TEST(name_)                                                                         \
	static void test_##name_(void);                                                     \
	__attribute__((constructor)) static void register_##name_(void)                     \
	{                                                                                   \
		static struct test test = { #name_, __FILE__, test_##name_, NULL };         \
		test_register(&test);                                                       \
	}                                                                                   \
	static void test_##name_(void)

/* Where a check stands, for its message. */
struct test_place {
	const char *file;
	int line;
};

#define TEST_HERE ((struct test_place){ __FILE__, __LINE__ })

/* Values are evaluated once. Expected values come second. CHECK_STR() takes NULL on either side. */
#define CHECK(condition) test_check(TEST_HERE, (condition) ? 1 : 0, #condition)
#define CHECK_UINT(value, expected) test_check_uint(TEST_HERE, (value), (expected), #value)
#define CHECK_INT(value, expected) test_check_int(TEST_HERE, (value), (expected), #value)
#define CHECK_STR(value, expected) test_check_str(TEST_HERE, (value), (expected), #value)
#define CHECK_MEM(value, expected, len) test_check_mem(TEST_HERE, (value), (expected), (len), #value)

/* The call must succeed: its error is printed otherwise. */
#define CHECK_OK(call) test_check_ok(TEST_HERE, (call), #call)

/* The call must fail with @kind and a message that contains @part. */
#define CHECK_ERR(call, kind, part) test_check_err(TEST_HERE, (call), (kind), (part), #call)

/* Leave the test and count it as skipped: this machine cannot run it, because of @why. */
#define SKIP(why) test_skip(why)

void test_check(struct test_place place, bool ok, const char *text);
void test_check_uint(struct test_place place, uint64_t value, uint64_t expected, const char *text);
void test_check_int(struct test_place place, int64_t value, int64_t expected, const char *text);
void test_check_str(struct test_place place, const char *value, const char *expected,
		    const char *text);
void test_check_mem(struct test_place place, const void *value, const void *expected, size_t len,
		    const char *text);
void test_check_ok(struct test_place place, struct err *err, const char *text);
void test_check_err(struct test_place place, struct err *err, enum err_kind kind, const char *part,
		    const char *text);
__attribute__((noreturn)) void test_skip(const char *why);

/*
 * A copy of @len bytes that ends where a page without access begins, so that reading one byte too far
 * dies. Valid until the test ends.
 */
const void *guarded(const void *data, size_t len);

/* What @write prints to the stream it is given; valid until the test ends. */
const char *test_printed(void (*write)(FILE *out, void *context), void *context);

/* A path in a folder that is removed when the test ends. */
const char *test_path(const char *name);

#endif
