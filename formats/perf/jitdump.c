/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump.c - a header and records that say their own length.
 *
 *	header   u32 magic, version, own length, ELF machine, pad, pid; u64 time, flags
 *	record   u32 kind, own length; u64 time; then
 *	  load         u32 pid, tid; u64 vma, address, length, index; name\0; code
 *	  move         u32 pid, tid; u64 vma, old address, new address, length, index
 *	  unwinding    u64 length of all, of .eh_frame_hdr at their end, when mapped; .eh_frame; .eh_frame_hdr
 *	  debug info   u64 address, count; and for each entry u64 address, u32 line, discriminator; file\0
 *	  function     u32 number; name\0; file\0; u32 line
 *	  known        u64 address, length; name\0
 *	  place        u64 address; u32 frame, its length, count; and for each call u32 function, line
 *	  object       bytes
 *	  gone         u64 address, length
 *	  checked      nothing
 *	  thread       u32 thread; the kernel's name\0; name\0
 *
 * V8 has two habits. It adds 64 to the addresses of its entries, for the ELF header that perf inject once put
 * before the code. And some releases (Node 20) write a file name that they have freed already: as many bytes as
 * it had, but any, NULs among them. The entries are then still of one length, and their lines good.
 */
#include "formats/perf/jitdump.h"

#include "formats/process/mapping.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC	      0x4a695444U /* "JiTD" */
#define MAGIC_SWAPPED 0x4454694aU
#define DUMP_VERSION  1
#define HEADER_LEN    40
#define FLAG_ARCH_TIMESTAMP 1
#define PREFIX_LEN    16
#define V8_PAD	      0xdeadbeefU
#define V8_ENTRY_BIAS 64
#define ENTRY_LEN_MIN 17
#define CALL_LEN      8
#define ALIGNMENT     8 /* what a writer may pad a record to */
#define SAME_FILE     "\xff"

bool jitdump_is_path(const char *path)
{
	bool deleted;
	size_t len = mapping_path_len(path, &deleted);
	const char *name = path + len;

	while (name > path && name[-1] != '/')
		name--;
	size_t name_len = (size_t)(path + len - name);

	if (name_len < strlen("jit-0.dump") || strncmp(name, "jit-", 4) != 0 ||
	    strncmp(path + len - 5, ".dump", 5) != 0)
		return false;
	return strspn(name + 4, "0123456789") == name_len - strlen("jit-.dump");
}

struct err *jitdump_open(struct jitdump *dump, const void *data, size_t len)
{
	struct jitdump d = { 0 };
	struct reader *r = &d.reader;

	reader_init(r, data, len, /* big_endian= */ false);
	uint32_t magic = reader_u32(r, "magic");

	if (!r->failed && magic == MAGIC_SWAPPED)
		r->big_endian = true;
	else if (!r->failed && magic != MAGIC)
		return err_new(ERR_CORRUPT, "it does not begin as a dump of a JIT's code");
	uint32_t version = reader_u32(r, "version");

	d.header_len = reader_u32(r, "header length");
	d.machine = (uint16_t)reader_u32(r, "machine");
	d.is_v8 = reader_u32(r, "pad") == V8_PAD;
	d.pid = reader_u32(r, "process");
	d.time_ns = reader_u64(r, "time");
	d.is_foreign_clock = reader_u64(r, "flags") & FLAG_ARCH_TIMESTAMP;
	if (!r->failed && version != DUMP_VERSION)
		return err_new(ERR_UNSUPPORTED, "a dump of a JIT's code of version %" PRIu32, version);
	if (!r->failed && d.header_len < HEADER_LEN)
		reader_fail(r, "header length");
	reader_skip(r, d.header_len - HEADER_LEN, "header");
	struct err *err = reader_check(r);

	if (!err)
		*dump = d;
	return err;
}

static void read_load(struct reader *r, struct jitdump_record *ret)
{
	reader_skip(r, 16, "process, thread and memory");
	ret->ip = reader_u64(r, "address");
	ret->len = reader_u64(r, "length");
	reader_skip(r, 8, "index");
	ret->name = reader_string(r, "name");
	if (ret->len > reader_left(r))
		reader_fail(r, "code");
	ret->code = reader_bytes(r, ret->len, "code");
}

static void read_move(struct reader *r, struct jitdump_record *ret)
{
	reader_skip(r, 16, "process, thread and memory");
	ret->old_ip = reader_u64(r, "old address");
	ret->ip = reader_u64(r, "new address");
	ret->len = reader_u64(r, "length");
}

static void read_debug_info(struct reader *r, struct jitdump_record *ret)
{
	ret->ip = reader_u64(r, "address");
	ret->nentries = reader_u64(r, "number of lines");
	if (ret->nentries > reader_left(r) / ENTRY_LEN_MIN)
		reader_fail(r, "lines");
	ret->entries = *r;
}

static void read_unwinding(struct reader *r, struct jitdump_record *ret)
{
	uint64_t len = reader_u64(r, "length of unwinding info");
	uint64_t header_len = reader_u64(r, "length of its header");

	reader_skip(r, 8, "mapped length");
	if (header_len > len || len > reader_left(r))
		reader_fail(r, "length of unwinding info");
	ret->frames_len = (size_t)(len - header_len);
	ret->frames = reader_bytes(r, ret->frames_len, "unwinding info");
}

static void read_function(struct reader *r, struct jitdump_record *ret)
{
	ret->function = reader_u32(r, "number of the function");
	ret->name = reader_string(r, "name");
	ret->file = reader_string(r, "file");
	if (reader_left(r)) /* older files lack it */
		ret->line = reader_u32(r, "line");
}

static void read_known(struct reader *r, struct jitdump_record *ret)
{
	ret->ip = reader_u64(r, "address");
	ret->len = reader_u64(r, "length");
	ret->name = reader_string(r, "name");
}

static void read_gone(struct reader *r, struct jitdump_record *ret)
{
	ret->ip = reader_u64(r, "address");
	ret->len = reader_u64(r, "length");
}

static void read_place_record(struct reader *r, struct jitdump_record *ret)
{
	ret->ip = reader_u64(r, "address");
	ret->frame = reader_u32(r, "frame");
	ret->frame_len = reader_u32(r, "length of the frame");
	ret->ncalls = reader_u32(r, "number of calls");
	if (ret->ncalls > reader_left(r) / CALL_LEN)
		reader_fail(r, "calls");
	ret->calls = *r;
}

static void read_object(struct reader *r, struct jitdump_record *ret)
{
	ret->object_len = reader_left(r);
	ret->object = reader_bytes(r, ret->object_len, "object");
}

static void read_thread(struct reader *r, struct jitdump_record *ret)
{
	ret->tid = reader_u32(r, "thread");
	ret->comm = reader_string(r, "the kernel's name");
	ret->name = reader_string(r, "name");
}

static void read_memory(struct reader *r, struct jitdump_record *ret)
{
	ret->ip = reader_u64(r, "address");
	ret->len = reader_left(r);
	ret->code = reader_bytes(r, ret->len, "bytes");
}

/* A record whose content makes no sense is passed over, as one that is not known; its length still holds. */
static void read_content(struct reader *content, struct jitdump_record *ret)
{
	if (ret->kind == JITDUMP_LOAD)
		read_load(content, ret);
	else if (ret->kind == JITDUMP_MOVE)
		read_move(content, ret);
	else if (ret->kind == JITDUMP_DEBUG_INFO)
		read_debug_info(content, ret);
	else if (ret->kind == JITDUMP_UNWINDING)
		read_unwinding(content, ret);
	else if (ret->kind == JITDUMP_FUNCTION)
		read_function(content, ret);
	else if (ret->kind == JITDUMP_KNOWN)
		read_known(content, ret);
	else if (ret->kind == JITDUMP_GONE)
		read_gone(content, ret);
	else if (ret->kind == JITDUMP_PLACE)
		read_place_record(content, ret);
	else if (ret->kind == JITDUMP_OBJECT)
		read_object(content, ret);
	else if (ret->kind == JITDUMP_BYTES)
		read_memory(content, ret);
	else if (ret->kind == JITDUMP_THREAD)
		read_thread(content, ret);
	if (content->failed || ret->len > UINT64_MAX - ret->ip)
		ret->kind = UINT32_MAX;
}

bool jitdump_next(struct jitdump *dump, struct jitdump_record *ret)
{
	struct reader *r = &dump->reader;
	struct jitdump_record rec = { .bytes = r->pos };

	rec.kind = reader_u32(r, "kind");
	rec.bytes_len = reader_u32(r, "length");
	rec.time_ns = reader_u64(r, "time");
	if (!r->failed && rec.bytes_len < PREFIX_LEN)
		reader_fail(r, "length");
	struct reader content = reader_slice(r, rec.bytes_len - PREFIX_LEN, "record");

	if (r->failed)
		return false;
	read_content(&content, &rec);
	if (rec.kind == JITDUMP_CLOSE)
		r->pos = r->end;
	*ret = rec;
	return true;
}

bool jitdump_call_next(struct jitdump_record *place, struct jitdump_call *ret)
{
	if (!place->ncalls)
		return false;
	place->ncalls--;
	ret->function = reader_u32(&place->calls, "function");
	ret->line = reader_u32(&place->calls, "line");
	return !place->calls.failed;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

/* The place of one entry; false if it is not in the code. */
static bool read_place(const struct jitdump *dump, struct reader *r, uint64_t ip, uint64_t code_len,
		       struct jitdump_line *ret)
{
	uint64_t bias = dump->is_v8 ? V8_ENTRY_BIAS : 0;
	uint64_t addr = reader_u64(r, "address");

	*ret = (struct jitdump_line){ .offset = addr - bias - ip };
	ret->line = reader_u32(r, "line");
	reader_u32(r, "discriminator");
	return !r->failed && addr >= bias && addr - bias >= ip && ret->offset <= code_len;
}

/* As the specification has it: true if every entry is good and they fill the record. */
static bool read_named(const struct jitdump *dump, const struct jitdump_record *info,
		       uint64_t code_len, struct jitdump_line *ret)
{
	struct reader r = info->entries;
	const char *file = NULL;

	for (uint64_t i = 0; i < info->nentries; i++) {
		if (!read_place(dump, &r, info->ip, code_len, &ret[i]))
			return false;
		const char *name = reader_string(&r, "file");

		if (name && strcmp(name, SAME_FILE) != 0)
			file = name;
		ret[i].file = file;
	}
	return !r.failed && reader_left(&r) < ALIGNMENT;
}

/* Entries of @len bytes each, whatever their names are. */
static bool read_even(const struct jitdump *dump, const struct jitdump_record *info,
		      uint64_t code_len, size_t len, struct jitdump_line *ret)
{
	struct reader r = info->entries;

	for (uint64_t i = 0; i < info->nentries; i++) {
		struct reader entry = reader_slice(&r, len, "entry");

		if (!read_place(dump, &entry, info->ip, code_len, &ret[i]))
			return false;
	}
	return true;
}

size_t jitdump_lines(const struct jitdump *dump, const struct jitdump_record *info,
		     uint64_t code_len, struct jitdump_line *ret)
{
	size_t left = reader_left(&info->entries);

	if (!info->nentries)
		return 0;
	if (read_named(dump, info, code_len, ret))
		return info->nentries;
	for (size_t pad = 0; pad < ALIGNMENT && dump->is_v8 && pad <= left; pad++) {
		if ((left - pad) % info->nentries == 0 &&
		    read_even(dump, info, code_len, (left - pad) / info->nentries, ret))
			return info->nentries;
	}
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------------- */

void jitdump_put_header(struct writer *w, uint16_t machine, uint32_t pid, uint64_t time_ns)
{
	writer_u32(w, MAGIC);
	writer_u32(w, DUMP_VERSION);
	writer_u32(w, HEADER_LEN);
	writer_u32(w, machine);
	writer_u32(w, 0);
	writer_u32(w, pid);
	writer_u64(w, time_ns);
	writer_u64(w, 0);
}

void jitdump_put_load(struct writer *w, uint32_t pid, uint64_t ip, const char *name,
		      const uint8_t *code, size_t len)
{
	size_t name_len = strlen(name) + 1;

	writer_u32(w, JITDUMP_LOAD);
	writer_u32(w, (uint32_t)(PREFIX_LEN + 40 + name_len + len));
	writer_u64(w, 0);
	writer_u32(w, pid);
	writer_u32(w, pid);
	writer_u64(w, ip);
	writer_u64(w, ip);
	writer_u64(w, len);
	writer_u64(w, 0);
	writer_bytes(w, name, name_len);
	writer_bytes(w, code, len);
}

static void put_head(struct writer *w, enum jitdump_kind kind, size_t len)
{
	writer_u32(w, kind);
	writer_u32(w, (uint32_t)(PREFIX_LEN + len));
	writer_u64(w, 0);
}

void jitdump_put_known(struct writer *w, uint64_t ip, uint64_t len, const char *name)
{
	put_head(w, JITDUMP_KNOWN, 16 + strlen(name) + 1);
	writer_u64(w, ip);
	writer_u64(w, len);
	writer_string(w, name);
}

void jitdump_put_function(struct writer *w, uint32_t number, const char *name, const char *file, uint32_t line)
{
	put_head(w, JITDUMP_FUNCTION, 4 + strlen(name) + 1 + strlen(file) + 1 + 4);
	writer_u32(w, number);
	writer_string(w, name);
	writer_string(w, file);
	writer_u32(w, line);
}

void jitdump_put_place(struct writer *w, uint64_t ip, enum jitdump_frame frame, uint32_t frame_len,
		       const struct jitdump_call *calls, uint32_t ncalls)
{
	put_head(w, JITDUMP_PLACE, 20 + (size_t)ncalls * CALL_LEN);
	writer_u64(w, ip);
	writer_u32(w, frame);
	writer_u32(w, frame_len);
	writer_u32(w, ncalls);
	for (uint32_t i = 0; i < ncalls; i++) {
		writer_u32(w, calls[i].function);
		writer_u32(w, calls[i].line);
	}
}

void jitdump_put_object(struct writer *w, const uint8_t *object, size_t len)
{
	put_head(w, JITDUMP_OBJECT, len);
	writer_bytes(w, object, len);
}

void jitdump_put_bytes(struct writer *w, uint64_t ip, const uint8_t *code, size_t len)
{
	put_head(w, JITDUMP_BYTES, 8 + len);
	writer_u64(w, ip);
	writer_bytes(w, code, len);
}

void jitdump_put_thread(struct writer *w, uint32_t tid, const char *comm, const char *name)
{
	put_head(w, JITDUMP_THREAD, 4 + strlen(comm) + 1 + strlen(name) + 1);
	writer_u32(w, tid);
	writer_string(w, comm);
	writer_string(w, name);
}

void jitdump_put_gone(struct writer *w, uint64_t ip, uint64_t len)
{
	put_head(w, JITDUMP_GONE, 16);
	writer_u64(w, ip);
	writer_u64(w, len);
}

void jitdump_put_checked(struct writer *w, uint64_t time_ns)
{
	size_t begin = w->len;

	put_head(w, JITDUMP_CHECKED, 0);
	jitdump_set_times(w, begin, time_ns, 0);
}

void jitdump_set_times(struct writer *w, size_t begin, uint64_t time_ns, uint64_t gone_ns)
{
	for (size_t at = begin; at + PREFIX_LEN <= w->len;) {
		uint32_t kind, len;
		uint64_t old_ns;

		memcpy(&kind, w->data + at, sizeof(kind));
		memcpy(&len, w->data + at + 4, sizeof(len));
		memcpy(&old_ns, w->data + at + 8, sizeof(old_ns));
		if (!old_ns)
			memcpy(w->data + at + 8, kind == JITDUMP_GONE ? &gone_ns : &time_ns, sizeof(time_ns));
		at += len;
	}
}
