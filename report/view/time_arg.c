/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_arg.c - reads moments by hand: strptime(3) knows no fractions, and mktime(3) the reader's time zone only.
 */
#include "report/view/time_arg.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_MAX 1e9
#define DAY_S       86400

static bool parse_number(const char *text, struct time_arg *ret)
{
	char *end;

	if (strspn(text, "0123456789.") == 0)
		return false;
	errno = 0;
	ret->value = strtod(text, &end);
	ret->kind = strcmp(end, "%") == 0 ? TIME_ARG_PERCENT : TIME_ARG_SECONDS;
	if (strcmp(end, "ms") == 0)
		ret->value /= 1000;
	else if (*end && strcmp(end, "s") != 0 && ret->kind == TIME_ARG_SECONDS)
		return false;
	return errno == 0 && isfinite(ret->value) &&
	       ret->value <= (ret->kind == TIME_ARG_PERCENT ? 100 : SECONDS_MAX);
}

/* @digits of them and then @after (0: nothing to check); moves *@pos behind. */
static bool take_number(const char **pos, unsigned digits, char after, unsigned *ret)
{
	unsigned value = 0;

	for (unsigned i = 0; i < digits; i++, (*pos)++) {
		if (**pos < '0' || **pos > '9')
			return false;
		value = value * 10 + (unsigned)(**pos - '0');
	}
	if (after && *(*pos)++ != after)
		return false;
	*ret = value;
	return true;
}

/* "14:03" or "14:03:20" or "14:03:20.25". */
static bool take_time(const char **pos, double *ret)
{
	unsigned hours, minutes, seconds = 0;
	double fraction = 0, scale = 0.1;

	if (!take_number(pos, 2, ':', &hours) || !take_number(pos, 2, 0, &minutes))
		return false;
	if (**pos == ':') {
		(*pos)++;
		if (!take_number(pos, 2, 0, &seconds))
			return false;
		if (**pos == '.')
			for ((*pos)++; **pos >= '0' && **pos <= '9'; (*pos)++, scale /= 10)
				fraction += scale * (**pos - '0');
	}
	*ret = hours * 3600.0 + minutes * 60.0 + seconds + fraction;
	return hours < 24 && minutes < 60 && seconds <= 60;
}

/* "Z", "+01:00", "-0930" or nothing. */
static bool take_offset(const char **pos, struct time_arg *ret)
{
	unsigned hours, minutes;
	char sign = **pos;

	if (!sign)
		return true;
	(*pos)++;
	ret->has_offset = true;
	if (sign == 'Z')
		return !**pos;
	if ((sign != '+' && sign != '-') || !take_number(pos, 2, 0, &hours))
		return false;
	*pos += **pos == ':';
	if (!take_number(pos, 2, 0, &minutes) || hours > 14 || minutes > 59)
		return false;
	ret->offset_s = (int32_t)(hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
	return !**pos;
}

/* Days of months are not checked closer than timegm(3) does. */
static bool parse_date(const char *text, struct time_arg *ret)
{
	unsigned year, month, day;
	double time = 0;
	bool ok = take_number(&text, 4, '-', &year) && take_number(&text, 2, '-', &month) &&
		  take_number(&text, 2, 0, &day) && month >= 1 && month <= 12 && day >= 1 &&
		  day <= 31 && year >= 1970;

	if (!ok)
		return false;
	if (*text == 'T' || *text == ' ') {
		text++;
		if (!take_time(&text, &time) || !take_offset(&text, ret))
			return false;
	}
	struct tm tm = { .tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day };

	ret->kind = TIME_ARG_DATE;
	ret->value = (double)timegm(&tm) + time;
	return !*text;
}

bool time_arg_parse(const char *text, struct time_arg *ret)
{
	const char *pos = text;

	*ret = (struct time_arg){ 0 };
	if (!*text)
		return true;
	if (strchr(text, '-'))
		return parse_date(text, ret);
	if (!strchr(text, ':'))
		return parse_number(text, ret);
	ret->kind = TIME_ARG_TIME_OF_DAY;
	return take_time(&pos, &ret->value) && !*pos;
}

static int64_t zone_of(const struct profile_facts *facts)
{
	return facts->has_utc_offset ? facts->utc_offset_s : 0;
}

/* Seconds since 1970 on the recorder's wall clock, as its zone shows it. */
static double local_s(const struct profile_facts *facts, uint64_t time_ns)
{
	int64_t wall_ns = (int64_t)(facts->wall_ns - facts->start_ns + time_ns);

	return (double)wall_ns / 1e9 + (double)zone_of(facts);
}

static struct err *resolve_wall(const struct time_arg *arg, const struct profile_facts *facts,
				uint64_t *ret)
{
	double local = arg->value, start = local_s(facts, facts->start_ns);

	if (!facts->has_wall)
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "the recording does not say what time it was"),
				  "say --time in seconds since it began");
	if (arg->kind == TIME_ARG_TIME_OF_DAY) {
		local += floor(start / DAY_S) * DAY_S;
		if (local < start - DAY_S / 2.0) /* past midnight */
			local += DAY_S;
	} else if (arg->has_offset) {
		local += (double)(zone_of(facts) - arg->offset_s);
	}
	double ns = (double)facts->start_ns + (local - start) * 1e9;

	*ret = ns <= 0 ? 0 : (uint64_t)ns;
	return NULL;
}

struct err *time_arg_resolve(const struct time_arg *arg, const struct profile_facts *facts,
			   uint64_t otherwise, uint64_t *ret)
{
	double offset_ns = arg->value * 1e9;

	switch (arg->kind) {
	case TIME_ARG_NONE:
		*ret = otherwise;
		return NULL;
	case TIME_ARG_TIME_OF_DAY:
	case TIME_ARG_DATE:
		return resolve_wall(arg, facts, ret);
	case TIME_ARG_PERCENT:
		if (!facts->has_duration)
			return err_remedy(
				err_new(ERR_UNSUPPORTED,
					"--time in per cent of a recording without an end"),
				"say it in seconds");
		offset_ns = arg->value / 100 * (double)facts->duration_ns;
		break;
	case TIME_ARG_SECONDS:
		break;
	}
	*ret = facts->start_ns + (uint64_t)llround(offset_ns);
	return NULL;
}

const char *time_arg_wall_clock(const struct profile_facts *facts, uint64_t time_ns, struct arena *arena)
{
	int64_t zone = zone_of(facts);
	int64_t local_ns = (int64_t)(facts->wall_ns - facts->start_ns + time_ns) + zone * 1000000000;
	time_t seconds = (time_t)(local_ns / 1000000000);
	struct tm tm = { 0 };
	char text[32] = "";

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	return arena_printf(arena, "%s.%03" PRId64 " %c%02" PRId64 ":%02" PRId64, text,
			    local_ns / 1000000 % 1000, zone < 0 ? '-' : '+', (int64_t)llabs(zone) / 3600,
			    (int64_t)llabs(zone) / 60 % 60);
}
