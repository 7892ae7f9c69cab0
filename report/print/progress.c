/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - when a line is due, and how it goes away again.
 *
 * The line is never longer than the terminal is wide: what wraps could not be erased.
 */
#include "report/print/progress.h"

#include "formats/base/clock.h"
#include "report/print/number.h"
#include "report/print/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_NS    500000000ull /* what is over sooner needs no line */
#define INTERVAL_NS 100000000ull
#define CALLS	    64 /* between two looks at the clock */
#define ERASE	    "\r\033[K"

static bool can_erase(FILE *out)
{
	const char *name = getenv("TERM");

	return isatty(fileno(out)) && name && *name && strcmp(name, "dumb") != 0;
}

void progress_begin(struct progress *p, FILE *out, bool wanted)
{
	*p = (struct progress){ 0 };
	if (!wanted || !can_erase(out))
		return;
	p->out = out;
	p->columns = terminal_of(out).columns;
	p->began_ns = clock_now_ns(CLOCK_MONOTONIC);
	p->next_ns = p->began_ns + QUIET_NS;
}

bool progress_due(struct progress *p)
{
	uint64_t now;

	if (!p->out || p->calls++ % CALLS)
		return false;
	now = clock_now_ns(CLOCK_MONOTONIC);
	if (now < p->next_ns)
		return false;
	p->next_ns = now + INTERVAL_NS;
	return true;
}

void progress_show(struct progress *p, const char *text)
{
	if (!p->out)
		return;
	fprintf(p->out, ERASE "%.*s", (int)(p->columns ? p->columns - 1 : 79), text);
	fflush(p->out);
	p->shown = true;
}

uint64_t progress_elapsed_ns(const struct progress *p)
{
	return p->out ? clock_now_ns(CLOCK_MONOTONIC) - p->began_ns : 0;
}

void progress_end(struct progress *p)
{
	if (!p->shown)
		return;
	fputs(ERASE, p->out);
	fflush(p->out);
	p->shown = false;
}

const char *progress_text(struct arena *arena, const char *input, uint64_t done, uint64_t len,
			  uint64_t samples, uint64_t elapsed_ns)
{
	double share = len ? (double)MIN(done, len) / (double)len : 0;
	const char *count = number_of(arena, samples, "sample");

	if (share <= 0)
		return arena_printf(arena, "%s: %s", input, count);
	double left_ns = (double)elapsed_ns * (1 - share) / share;

	return arena_printf(arena, "%.0f %% of %s, %s, %.0f s left", share * 100, input, count,
			    left_ns / 1e9);
}
