/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_maker.h - writes small perf.data files, record by record, as perf would.
 *
 *	perf_data_begin(&m, attrs, 1);          or perf_data_begin_pipe()
 *	perf_data_sample(&m, ...);
 *	perf_data_end(&m);                      m.w has the file
 *
 * Event i has the ids 100 * (i + 1) + 0 and 1. Samples have PERF_DATA_SAMPLE_TYPE, other records its trailer.
 */
#ifndef TESTS_UNIT_PERF_DATA_MAKER_H
#define TESTS_UNIT_PERF_DATA_MAKER_H

#include "formats/base/writer.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_DATA_SAMPLE_TYPE                                                                      \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

struct perf_data_attr_made {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, branch_type, regs_user;
	uint32_t stack_len;
};

struct perf_data_maker {
	struct writer w;
	size_t data;	/* offset */
	size_t record;	/* of the one that is being written */
	size_t nevents;
	struct writer features; /* contents, one behind the other */
	struct {
		unsigned number;
		size_t offset, len;
	} sections[8];
	size_t nsections;
};

void perf_data_begin(struct perf_data_maker *m, const struct perf_data_attr_made *attrs, size_t count);
void perf_data_begin_pipe(struct perf_data_maker *m, const struct perf_data_attr_made *attrs,
			  size_t count);

/* A record of any kind: what is written to m->w in between is its body, padded to 8 bytes at the end. */
void perf_data_open_record(struct perf_data_maker *m, uint32_t type, uint16_t misc);
void perf_data_close_record(struct perf_data_maker *m);

/* @id, pid 10, tid 11, @time_ns, CPU 1 */
void perf_data_trailer(struct perf_data_maker *m, uint64_t id, uint64_t time_ns);

/* User mode, pid 10, tid 11, CPU 1, period 7. */
void perf_data_sample(struct perf_data_maker *m, uint64_t id, uint64_t time_ns, uint64_t ip);

void perf_data_comm(struct perf_data_maker *m, uint64_t time_ns, const char *name);

/* Of pid @pid, executable; the kernel's if that is -1. */
void perf_data_mmap(struct perf_data_maker *m, int32_t pid, uint64_t start, uint64_t len,
		    uint64_t offset, const char *path);
void perf_data_round(struct perf_data_maker *m);

/* Feature @number has what is written to m->features until the next one or the end. In order of numbers. */
void perf_data_feature(struct perf_data_maker *m, unsigned number);
void perf_data_text(struct writer *w, const char *text);
void perf_data_end(struct perf_data_maker *m);

void perf_data_maker_deinit(struct perf_data_maker *m);

#endif
