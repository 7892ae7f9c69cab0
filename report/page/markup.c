/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markup.c - the five characters that mean something to a parser of markup.
 */
#include "report/page/markup.h"

void markup_put(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len && text[i]; i++) {
		switch (text[i]) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}
