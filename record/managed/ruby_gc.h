/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby_gc.h - whether Ruby collects garbage at the moment, as its own rb_during_gc() finds it out.
 *
 * Where the flag is differs from version to version and build to build, but that function is exported by all and does nothing but
 * load it, so its code says it (x86-64). Code that it does not know says nothing.
 */
#ifndef RECORD_RUBY_GC_H
#define RECORD_RUBY_GC_H

#include "record/managed/managed_view.h"

struct ruby_gc {
	uint64_t function; /* address of rb_during_gc(); 0: there is none, or its code is not known */
	uint64_t pointer;  /* address of the pointer to Ruby's machine; 0: not looked for yet */
	bool indirect;	   /* it is a pointer to that pointer */
	uint32_t space;	   /* in the machine: the pointer to what the collector knows */
	uint8_t flags, bit; /* in that: a byte, and the flag in it */
};

/* @function: its address, 0 if it has no symbol. */
void ruby_gc_init(struct ruby_gc *gc, uint64_t function);

/* False also if that is not known. */
bool ruby_gc_runs(struct ruby_gc *gc, struct managed_view *view);

#endif
