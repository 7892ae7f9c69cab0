/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_record.h - one record as the kernel writes it (linux/perf_event.h, enum perf_event_type), as an event.
 *
 * The recorder reads them from its rings, an importer from perf.data. The stack snapshot is handed out
 * as bytes, because only the caller knows which of its words may be kept. Not thread-safe.
 */
#ifndef FORMATS_PERF_RECORD_H
#define FORMATS_PERF_RECORD_H

#include "formats/base/reader.h"
#include "formats/event.h"

/* What an event's attributes say about the shape of its records. */
struct perf_layout {
	uint64_t sample_type;        /* PERF_SAMPLE_* */
	uint64_t read_format;        /* PERF_FORMAT_* */
	uint64_t branch_sample_type; /* PERF_SAMPLE_BRANCH_* */
	uint64_t regs_user;          /* kernel's mask of the user registers in a sample */
	uint64_t regs_intr;
	uint64_t period;	     /* of samples that do not carry theirs */
	const struct arch *arch;
	bool sample_id_all; /* records other than samples carry identity and time too */
	/*
	 * Build IDs of mapped files were asked for. Where they were not, a record that says it has one lies: for each
	 * mapping the kernel (perf_event_mmap_output(), at least to 6.18) makes one header for all that listen, and leaves
	 * in it what the one before had asked for.
	 */
	bool build_ids;
};

#define PERF_RECORD_LEN_MAX    65536
#define PERF_RECORD_WORDS_MAX  (PERF_RECORD_LEN_MAX / 8)
#define PERF_RECORD_COUNTS_MAX 64

/* A parsed record and the room its event points into. Large: allocate one and use it again. */
struct perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	bool known; /* false: a kind of record that is no event here; only @type and @misc are set */
	uint64_t id;       /* of the event that wrote it, 0 if the record does not say */
	uint64_t about_id; /* of the event that LOST and THROTTLE are about */

	/*
	 * Event numbers in here are RECORDING_NO_EVENT: the caller knows which number has which id.
	 * The stack is empty; sample.counts are those of @count_ids.
	 */
	struct event event;
	uint64_t count_ids[PERF_RECORD_COUNTS_MAX];

	const uint8_t *stack; /* from the stack pointer up; NULL if there is none */
	size_t stack_len;     /* bytes that were copied */
	size_t stack_room;    /* bytes there was room for: the copy was cut if it filled them */

	struct event_regs regs;
	struct event_count counts[PERF_RECORD_COUNTS_MAX];
	uint64_t words[PERF_RECORD_WORDS_MAX];
	size_t nwords;
};

/*
 * The id of the event that wrote the record of @len bytes at @data, if all events have
 * PERF_SAMPLE_IDENTIFIER and sample_id_all; 0 if the record is too short.
 */
uint64_t perf_record_id(const uint8_t *data, size_t len, bool big_endian);

/*
 * How many of the @len bytes of the record at @data are its own. Kernels (seen in 6.18) make records of BPF programs, kernel symbols
 * and changed code longer for each recorder that is told before: what stands behind is left from older records.
 */
size_t perf_record_own_len(const struct perf_layout *layout, const uint8_t *data, size_t len, bool big_endian);

/*
 * Parse the record of @len bytes at @data, header included; its bytes must outlive the use of @ret.
 * ERR_CORRUPT: it is shorter than its fields. @ret is then undefined.
 */
MUST_USE struct err *perf_record_parse(const struct perf_layout *layout, const uint8_t *data,
				       size_t len, bool big_endian, struct perf_record *ret);

/*
 * Only up to the user registers of a sample: the first @len bytes of it are at @data. NULL if there are none, or they are not among those
 * bytes; else they are in @ret, whose other fields are undefined.
 */
const struct event_regs *perf_record_regs(const struct perf_layout *layout, const uint8_t *data, size_t len,
					  bool big_endian, struct perf_record *ret);

#endif
