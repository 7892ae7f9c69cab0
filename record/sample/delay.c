/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay.c - a plain number is a window without an end.
 */
#include "record/sample/delay.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000ULL
#define MS_MAX    1000000000000ULL

static bool parse_ms(const char *text, uint64_t *ret_ns)
{
	uint64_t ms;

	if (!text_parse_u64(text, &ms) || ms > MS_MAX)
		return false;
	*ret_ns = ms * NS_PER_MS;
	return true;
}

/* "10-20", which must begin behind what is there already. */
static bool add_window(struct delay *delay, char *text)
{
	char *dash = strchr(text, '-');
	struct delay_window window;
	uint64_t after = delay->windows.len ? delay->windows.items[delay->windows.len - 1].end_ns
					    : 0;

	if (!dash)
		return false;
	*dash = '\0';
	if (!parse_ms(text, &window.start_ns) || !parse_ms(dash + 1, &window.end_ns) ||
	    window.start_ns < after || window.end_ns <= window.start_ns)
		return false;
	vec_push(&delay->windows, window);
	return true;
}

static bool add_windows(struct delay *delay, const char *value)
{
	CLEANUP(memory_freep) char *text = memory_strdup(value);
	char *rest = NULL;

	for (char *item = strtok_r(text, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
		if (!add_window(delay, item))
			return false;
	}
	return delay->windows.len > 0;
}

struct err *delay_parse(void *field, const char *value)
{
	struct delay *delay = field;
	struct delay_window open = { .end_ns = DELAY_NEVER };

	delay_deinit(delay);
	if (!strcmp(value, "-1")) {
		delay->given = true;
		return NULL;
	}
	if (parse_ms(value, &open.start_ns)) {
		delay->given = open.start_ns > 0;
		vec_push(&delay->windows, open);
		return NULL;
	}
	delay->given = true;
	if (add_windows(delay, value))
		return NULL;
	return err_new(ERR_USAGE,
		       "'%s' is not a number of milliseconds, nor -1, nor windows in ascending order "
		       "like 10-20,30-40",
		       value);
}

void delay_deinit(struct delay *delay)
{
	vec_deinit(&delay->windows);
	*delay = (struct delay){ 0 };
}

bool delay_is_on(const struct delay *delay, uint64_t elapsed_ns)
{
	for (size_t i = 0; i < delay->windows.len; i++) {
		const struct delay_window *window = &delay->windows.items[i];

		if (elapsed_ns >= window->start_ns && elapsed_ns < window->end_ns)
			return true;
	}
	return !delay->given;
}

uint64_t delay_next(const struct delay *delay, uint64_t elapsed_ns)
{
	for (size_t i = 0; delay->given && i < delay->windows.len; i++) {
		const struct delay_window *window = &delay->windows.items[i];

		if (elapsed_ns < window->start_ns)
			return window->start_ns;
		if (elapsed_ns < window->end_ns)
			return window->end_ns;
	}
	return DELAY_NEVER;
}
