/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/base/columns.h"

#include "formats/base/compiler.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MIN     40 /* narrower than this no table can be */
#define COLUMNS_MAX     100000
#define COLUMNS_DEFAULT 80
#define COLUMNS_PROSE   80

static unsigned columns_of_terminal(FILE *out)
{
	struct winsize size = { 0 };

	if (!isatty(fileno(out)))
		return 0;
	return ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || !size.ws_col ? COLUMNS_DEFAULT : size.ws_col;
}

unsigned columns_of(FILE *out)
{
	const char *text = getenv("COLUMNS");
	unsigned columns;
	uint64_t value;

	if (text && text_parse_u64(text, &value) && value && value <= COLUMNS_MAX)
		columns = (unsigned)value;
	else
		columns = columns_of_terminal(out);
	return columns ? MAX(columns, COLUMNS_MIN) : 0;
}

unsigned columns_of_prose(FILE *out)
{
	unsigned columns = columns_of(out);

	return columns ? MIN(columns, COLUMNS_PROSE) : COLUMNS_PROSE;
}
