/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_object.h - where CPython's structures have their fields, and the few objects that are read: texts and types' names.
 */
#ifndef RECORD_PYTHON_OBJECT_H
#define RECORD_PYTHON_OBJECT_H

#include "record/managed/managed_names.h"
#include "record/managed/managed_view.h"

/* How the outermost frame that one call of the loop runs is marked. */
enum entry_mark {
	ENTRY_EACH,  /* each frame has a call of its own */
	ENTRY_FLAG,  /* by a flag in it */
	ENTRY_OWNER, /* by a frame behind it that belongs to the C stack */
};

/* Offsets in bytes. */
struct python_layout {
	uint16_t head;				   /* in _PyRuntime: the first interpreter */
	uint16_t interp_next, interp_threads;
	uint16_t thread_next, thread_id, native_id; /* native_id is 0 where there is none */
	uint16_t thread_frame;
	int16_t cframe_frame; /* in what thread_frame points to; -1: that is the frame */
	uint16_t frame_previous, frame_code, frame_ip, frame_cookie, frame_mark;
	uint16_t frame_tlbc, code_tlbc; /* free-threaded: which copy of its code the thread runs; 0: there are none */
	uint8_t mark;	   /* enum entry_mark */
	uint8_t owner;	   /* of ENTRY_OWNER */
	uint8_t form;	   /* enum managed_lines_form */
	uint8_t unit;	   /* frame_ip is a number of so many bytes; 0: an address */
	uint16_t code_file, code_name, code_first_line, code_lines, code_start;
	uint16_t text_len, text_state, ascii_len, compact_len;
	uint16_t bytes_len, bytes_data;
	uint16_t frame_locals, code_locals; /* in a frame, and the tuple of their names in its code */
	uint16_t tuple_len, tuple_items, object_type, type_name;
	/* Who has the interpreter's lock: 3.8 to 3.11 a thread state in _PyRuntime; 3.12 behind a pointer in the interpreter. */
	uint16_t current, thread_interp, gil, gil_locked, gil_holder;
	uint16_t gil_enabled; /* free-threaded: is there one; 0: always */
	uint16_t collecting; /* in the interpreter, of 3.8 in _PyRuntime; 0: not known */
};

/* The text of the str at @addr, cut at some hundred bytes; "" if it cannot be read. */
const char *python_text(const struct python_layout *l, struct managed_names *names, struct managed_view *view, uint64_t addr);

/* The name of the type of @object; "" if it cannot be read. */
const char *python_type(const struct python_layout *l, struct managed_names *names, struct managed_view *view,
			uint64_t object);

#endif
