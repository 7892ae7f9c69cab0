/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_loader.h - the blocks of events of a trace, loaded in the order of the file; with a pool, some ahead of the one
 * that is asked for.
 *
 * What comes out, errors included, is the same with and without a pool.
 */
#ifndef FORMATS_TRACE_LOADER_H
#define FORMATS_TRACE_LOADER_H

#include "formats/base/pool.h"
#include "formats/trace/trace_chunk.h"

struct trace_loader;

/* All must outlive the loader. */
struct trace_loader *trace_loader_new(const struct trace_file *file, const struct recording *rec,
				      struct trace_chunks *chunks);
void trace_loader_free(struct trace_loader *loader);

/* From now on load by way of @pool, which must outlive the loader or trace_loader_settle(). */
void trace_loader_use(struct trace_loader *loader, struct pool *pool);

/* Wait for what is being loaded, and do without the pool. */
void trace_loader_settle(struct trace_loader *loader);

/* Another block, behind those added before. */
void trace_loader_add(struct trace_loader *loader, const struct trace_place *place);

/*
 * The next block; NULL with no error at the end. The chunk is the caller's to put back to the chunks.
 * ERR_CORRUPT, ERR_SYSTEM: see trace_chunk_load(); the block behind it comes next.
 */
MUST_USE struct err *trace_loader_next(struct trace_loader *loader, struct trace_chunk **ret);

#endif
