/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby_object.h - Ruby's objects in memory, as far as names of functions need them: strings and arrays.
 */
#ifndef RECORD_MANAGED_RUBY_OBJECT_H
#define RECORD_MANAGED_RUBY_OBJECT_H

#include "record/managed/managed_names.h"
#include "record/managed/managed_view.h"

enum ruby_type {
	RUBY_TYPE_CLASS = 2,
	RUBY_TYPE_MODULE = 3,
	RUBY_TYPE_STRING = 5,
	RUBY_TYPE_ARRAY = 7,
	RUBY_TYPE_IMEMO = 0x1a, /* what the interpreter keeps for itself */
};

#define RUBY_OBJECT_CLASS 8 /* in every object */
#define RUBY_FLAGS_SHIFT  12 /* where what a type means by its flags begins */
#define RUBY_FLAG_USER_1  (1u << 13) /* of a string: its text is elsewhere; of an array: its items are here */
#define RUBY_TEXT_MAX	  512 /* bytes of a text that are read */

/* Where in a string its text is, if it is there: 16, or 24 from 3.2 on, when the length is at 16. */
struct ruby_strings {
	struct managed_names *names;
	uint8_t text;
};

/* The flags of the object @value; 0, and the view does not fail, if it is none of that type. */
uint64_t ruby_flags(struct managed_view *view, uint64_t value, enum ruby_type type);

/* The text of the String @value, cut at RUBY_TEXT_MAX; "" if it is none or cannot be read. */
const char *ruby_text(const struct ruby_strings *strings, struct managed_view *view, uint64_t value);

/* Item @i of the Array @value; 0 if there is none. */
uint64_t ruby_item(struct managed_view *view, uint64_t value, uint64_t i);

#endif
