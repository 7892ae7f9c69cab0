/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_splice.c - nothing is remembered yet.
 */
#include "symbolize/unwind_splice.h"
struct unwind_splices *unwind_splices_new(const struct arch *arch)
{
	(void)arch;
	return NULL;
}
void unwind_splices_free(struct unwind_splices *s)
{
	(void)s;
}
void unwind_splices_begin(struct unwind_splices *s, struct unwind_walk *w, const struct event *ev)
{
	(void)s;
	(void)w;
	(void)ev;
}
bool unwind_splices_match(struct unwind_splices *s, struct unwind_walk *w,
			  struct unwind_frame frames[UNWIND_FRAMES_MAX], size_t *nframes,
			  enum unwind_stop *ret_stop)
{
	(void)s;
	(void)w;
	(void)frames;
	(void)nframes;
	(void)ret_stop;
	return false;
}
void unwind_splices_frame(struct unwind_splices *s, struct unwind_walk *w,
			  const struct unwind_frame *frame)
{
	(void)s;
	(void)w;
	(void)frame;
}
void unwind_splices_end(struct unwind_splices *s, struct unwind_walk *w, enum unwind_stop stop)
{
	(void)s;
	(void)w;
	(void)stop;
}
uint64_t unwind_splices_frames(const struct unwind_splices *s)
{
	(void)s;
	return 0;
}
