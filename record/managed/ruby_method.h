/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby_method.h - which method a frame of Ruby's runs: its class, and the name of one that is written in C.
 *
 *	frame ─► environment ─► method entry ─► owner, a class or module ─► its path
 *	                                └─► definition ─► number of the name ─► table of symbols ─► name
 *
 * Where a class has its path differs from version to version and is found out by looking at one. Before 3.2 it is a variable
 * of the class, of which the table of symbols tells the name. That table has no symbol in stripped files: it is
 * recognised by what it holds.
 */
#ifndef RECORD_MANAGED_RUBY_METHOD_H
#define RECORD_MANAGED_RUBY_METHOD_H

#include "record/managed/managed.h"
#include "record/managed/ruby_object.h"

/* Set up with ruby_methods_init(); holds nothing that has to be released. */
struct ruby_methods {
	struct ruby_strings strings;
	bool path_is_variable;
	uint16_t path;	   /* of a class's path in it, or of its variables in what it has of its own; 0: not known */
	uint64_t path_name; /* number of the variable's name */
	uint64_t symbols;  /* address of the table; 0: not found yet */
	uint64_t begin, end, next; /* what is searched for it, and where to go on */
	unsigned rounds;
};

void ruby_methods_init(struct ruby_methods *methods, const struct managed_host *host, unsigned version,
		       const struct ruby_strings *strings, const struct managed_symbol *symbols);

/* A method, as a frame's environment refers to it; addresses. */
struct ruby_method {
	uint64_t entry;
	uint64_t definition, owner;
};

/* That of the frame with the environment at @ep, of a block that of the method around it. False if there is none. */
bool ruby_method_find(struct managed_view *view, uint64_t ep, struct ruby_method *ret);

/* Names of classes cannot be had yet, as the table of symbols is still searched for? */
bool ruby_methods_searching(const struct ruby_methods *methods);

/* "Job#run" or, of a method of a class itself, "Job.run"; @name alone if the class has no name. @self: the frame's. */
const char *ruby_method_label(struct ruby_methods *methods, struct managed_view *view,
			      const struct ruby_method *method, uint64_t self, const char *name);

/* The name of a method in C; "" if the table of symbols is not known, or has none. */
const char *ruby_method_name(struct ruby_methods *methods, struct managed_view *view,
			     const struct ruby_method *method);

#endif
