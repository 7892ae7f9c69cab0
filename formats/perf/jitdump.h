/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.h - what a just-in-time compiler says of the code it makes: jit-PID.dump, with the code itself
 * (tools/perf/Documentation/jitdump-specification.txt).
 *
 *	header                            who writes, when it began
 *	debug info, code load             source lines come right before the code that they are of
 *	unwinding info, code load         rules too: .eh_frame, and .eh_frame_hdr behind it
 *	code load                         address, length, name, bytes
 *	code move
 *	close
 *	function, place, known code,      of precord's own: what it read in a runtime's memory (precord-trace(5))
 *	object, code that is gone, checked, bytes, thread
 *
 * The program maps a page of the file executable, so that a recording knows where it lies. It may still be written
 * while it is read: a record that is not whole is its end. All of it is hostile.
 */
#ifndef FORMATS_JITDUMP_H
#define FORMATS_JITDUMP_H

#include "formats/base/reader.h"
#include "formats/base/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3, /* nothing follows */
	JITDUMP_UNWINDING = 4,
	/* What precord adds where it read a runtime's own tables; other readers pass over them. */
	JITDUMP_FUNCTION = 0x70720001, /* a name and a file, by number, for the places behind it */
	JITDUMP_KNOWN = 0x70720002,    /* code as in JITDUMP_LOAD, but its bytes */
	JITDUMP_PLACE = 0x70720003,    /* one address: its frame, and the functions that were inlined there */
	JITDUMP_OBJECT = 0x70720004,   /* an ELF file whose sections have the addresses that they were loaded at */
	JITDUMP_GONE = 0x70720005,     /* code that is not there any more: what was known of these addresses holds until then */
	/*
	 * All that is not gone was there at that time. A dump with such a record says of all code since when it was certainly there: at other
	 * times nothing is known about its addresses. Others say when it was read, or written.
	 */
	JITDUMP_CHECKED = 0x70720006,
	JITDUMP_BYTES = 0x70720007, /* memory around code without any description, or with only a name: for unwinding */
	JITDUMP_THREAD = 0x70720008, /* a thread's name in its runtime, which is longer than the kernel's or another one */
};

/* How to find the caller of an address; all others: nothing is known. */
enum jitdump_frame {
	JITDUMP_FRAME_UNKNOWN = 0,
	JITDUMP_FRAME_SAVED = 1,      /* CFA = sp + frame_len; the return address and the frame pointer lie below it */
	JITDUMP_FRAME_NOT_SAVED = 2,  /* the same, but the frame pointer still is the caller's */
	JITDUMP_FRAME_INTERPRETER = 3, /* HotSpot's interpreter (hotspot_frames.h) */
	JITDUMP_FRAME_POINTED = 4,    /* CFA = fp + frame_len; the return address lies below it, the frame pointer at fp */
	JITDUMP_FRAME_ERLANG = 5,     /* the next word up the stack that is a return address in such a frame is that of the caller */
	JITDUMP_FRAME_OUTERMOST = 6,  /* there is none */
};

/* A function at an address, and the line that is executed in it; 0: not known. */
struct jitdump_call {
	uint32_t function, line;
};

struct jitdump_record {
	uint32_t kind; /* others than those above say nothing here */
	uint64_t ip, len;      /* of the code in the process; for a move, where it is from then on */
	uint64_t time_ns;      /* when it was written, by the clock of the dump; 0: not known */
	uint64_t old_ip;       /* of a move */
	const char *name;      /* of a load: never NULL, may be empty */
	const uint8_t *code;   /* of a load, and of bytes: @len bytes */
	struct reader entries; /* of debug info: for jitdump_lines() */
	uint64_t nentries;
	const uint8_t *frames; /* of unwinding info: @frames_len bytes of .eh_frame */
	size_t frames_len;
	const char *file;      /* of a function: never NULL, may be empty */
	uint32_t line;	       /* of a function: where it begins; 0: not known */
	uint32_t function;     /* of a function: its number */
	uint32_t frame, frame_len; /* of a place: enum jitdump_frame */
	struct reader calls;   /* of a place: for jitdump_call_next(), innermost first */
	uint32_t ncalls;
	uint32_t tid;	       /* of a thread, as the recording numbers it */
	const char *comm;      /* of a thread: what the kernel calls it. Likewise never NULL */
	const uint8_t *object; /* of an object: @object_len bytes */
	size_t object_len;
	const uint8_t *bytes;  /* the whole record */
	size_t bytes_len;
};

/* From @offset on, up to the next entry, the code comes from @line of @file. */
struct jitdump_line {
	uint64_t offset;
	const char *file; /* NULL if it cannot be read */
	uint32_t line;
};

struct jitdump {
	struct reader reader;
	size_t header_len;
	uint16_t machine; /* EM_* */
	uint32_t pid;     /* as the process knows itself */
	uint64_t time_ns; /* it was begun, on the recording's clock unless a runtime chose another */
	bool is_v8;
	bool is_foreign_clock; /* times are those of the processor's counter */
};

/* Is @path that of such a file: ".../jit-NUMBER.dump", perhaps with " (deleted)"? */
bool jitdump_is_path(const char *path);

/*
 * Begin to read @len bytes at @data, which must outlive it.
 * ERR_CORRUPT: they are no dump.  ERR_UNSUPPORTED: of a version that is not known.
 */
MUST_USE struct err *jitdump_open(struct jitdump *dump, const void *data, size_t len);

/* The next record; false at the end, behind JITDUMP_CLOSE, and at a record that is not whole. */
bool jitdump_next(struct jitdump *dump, struct jitdump_record *ret);

/*
 * The source lines of @info, debug info for code of @code_len bytes, in its order, into @ret with room for
 * info->nentries; returns how many make sense. Files are in place.
 */
size_t jitdump_lines(const struct jitdump *dump, const struct jitdump_record *info,
		     uint64_t code_len, struct jitdump_line *ret);

/* The next of a place's calls. */
bool jitdump_call_next(struct jitdump_record *place, struct jitdump_call *ret);

/* Write a dump of our own: its header, then code. */
void jitdump_put_header(struct writer *w, uint16_t machine, uint32_t pid, uint64_t time_ns);
void jitdump_put_load(struct writer *w, uint32_t pid, uint64_t ip, const char *name,
		      const uint8_t *code, size_t len);
void jitdump_put_known(struct writer *w, uint64_t ip, uint64_t len, const char *name);
void jitdump_put_function(struct writer *w, uint32_t number, const char *name, const char *file, uint32_t line);
void jitdump_put_place(struct writer *w, uint64_t ip, enum jitdump_frame frame, uint32_t frame_len,
		       const struct jitdump_call *calls, uint32_t ncalls);
void jitdump_put_gone(struct writer *w, uint64_t ip, uint64_t len);
void jitdump_put_checked(struct writer *w, uint64_t time_ns);
/*
 * Set the times that are not set yet of all records from @begin on, the length of @w before they were written: @gone_ns of those of code
 * that is gone, @time_ns of others.
 */
void jitdump_set_times(struct writer *w, size_t begin, uint64_t time_ns, uint64_t gone_ns);
void jitdump_put_bytes(struct writer *w, uint64_t ip, const uint8_t *code, size_t len);
void jitdump_put_thread(struct writer *w, uint32_t tid, const char *comm, const char *name);
void jitdump_put_object(struct writer *w, const uint8_t *object, size_t len);

#endif
