/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_event.h - events at places in code that somebody names: uprobes, uretprobes, USDT, kprobes and kretprobes.
 *
 *	uprobe:FILE:PLACE[ NAME=ARG[:TYPE]...]		FILE a path, a program in $PATH or a library ("libc")
 *	uretprobe:FILE:FUNCTION[ NAME=$retval[:TYPE]]
 *	usdt:FILE:[PROVIDER:]NAME
 *	kprobe:FUNCTION[+OFFSET], kretprobe:FUNCTION
 *	PLACE = FUNCTION[+OFFSET] | 0xADDRESS (link-time)
 *	ARG = %REGISTER | $argN | $retval	TYPE = u8 .. u64, s8 .. s64, x8 .. x64 (u64)
 *
 * They are opened through the kernel's dynamic PMUs, so that nothing is left in tracefs, however the recorder ends. Such a
 * probe brings no arguments: these are taken from the registers of the sample, in the recorder, and put behind the payload as
 * the format says that is made up here.
 */
#ifndef RECORD_PROBE_EVENT_H
#define RECORD_PROBE_EVENT_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "formats/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_PLACES_MAX 64 /* of one marker */
#define PROBE_ARGS_MAX	12
#define PROBE_ARGS_AT	24 /* offset in the payload; what the kernel writes ends before */
#define PROBE_RAW_MAX	(PROBE_ARGS_AT + 8 * PROBE_ARGS_MAX)

struct probe_arg {
	const char *name;
	bool constant, is_signed, is_hex;
	uint8_t reg; /* DWARF number */
	uint8_t len; /* bytes: 1, 2, 4, 8 */
	uint64_t value; /* of a constant */
};

struct probe_args {
	struct probe_arg items[PROBE_ARGS_MAX];
	unsigned len;
};

/* One place to open. */
struct probe_place {
	const char *pmu;	  /* "uprobe" or "kprobe": in sysfs */
	bool is_return;
	const char *path;	  /* of the file; of a kprobe, the function */
	uint64_t offset;	  /* in the file; of a kprobe, in the function */
	uint64_t semaphore;	  /* offset in the file of the counter that USDT has raised while it is probed; 0: none */
	struct probe_args args;
	size_t left_out; /* of the first place: so many beyond PROBE_PLACES_MAX are not opened */
};

struct probe_places {
	const char *name; /* as asked for, without arguments */
	struct probe_place *items;
	size_t len;
};

/* Does @text begin as a probe? */
bool probe_event_is(const char *text);

/*
 * The places that @text means; all of @ret lives in @arena.
 * ERR_USAGE: it is not well-formed, or there is no such function or marker (near names in the remedy). ERR_SYSTEM: the file cannot
 * be read. ERR_CORRUPT, ERR_UNSUPPORTED: it is no ELF file of ours.
 */
MUST_USE struct err *probe_event_read(const char *text, struct arena *arena, struct probe_places *ret);

/* What the payload of such a probe looks like, as tracefs would say it; @id tells probes apart. */
const char *probe_event_format(const struct probe_place *place, const char *name, uint64_t id, struct arena *arena);

/* Put the arguments behind the payload of @sample, which has registers, in @room of PROBE_RAW_MAX bytes. */
void probe_args_append(const struct probe_args *args, struct event_sample *sample, uint8_t *room);

/* A marker of a file. */
struct usdt_marker {
	const char *provider, *name, *args;
	uint64_t vaddr, semaphore; /* link-time addresses; 0: it has no semaphore */
};

struct usdt_markers {
	struct usdt_marker *items; /* by provider, name and address */
	size_t len;
};

/* The markers of the file at @path; none is no error. Fails as image_open(). */
MUST_USE struct err *usdt_read(const char *path, struct arena *arena, struct usdt_markers *ret);
MUST_USE struct err *usdt_read_fd(int fd, const char *path, struct arena *arena, struct usdt_markers *ret); /* takes @fd over */

#endif
