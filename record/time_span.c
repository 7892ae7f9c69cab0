/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_span.c - seconds with decimals, or a number with one of the units ms, s, m, h, d.
 */
#include "record/time_span.h"

#include "formats/base/vec.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e9

struct err *time_span_parse(void *field, const char *value)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	char *end;
	double number = strtod(value, &end);

	for (size_t i = 0; i < ARRAY_LEN(units) && end != value; i++) {
		double seconds = number * units[i].seconds;

		if (strcmp(end, units[i].name) != 0 || !isfinite(seconds) || seconds <= 0 ||
		    seconds > SECONDS_MAX)
			continue;
		*(uint64_t *)field = (uint64_t)(seconds * 1e9);
		return NULL;
	}
	return err_new(ERR_USAGE, "'%s' is not a time like 30, 1.5s, 200ms, 5m", value);
}
