/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps_line.c - a hand-written parser; most lines are read once and dropped.
 */
#include "record/task/maps_line.h"

#include <string.h>
#include <sys/sysmacros.h>

/* A number in base 10 or 16, which @end follows; NULL if there is none, else what lies behind @end. Digits as the kernel writes them. */
static char *take_number(char *text, unsigned base, char end, uint64_t *ret)
{
	char *begin = text;
	uint64_t value = 0;

	for (;; text++) {
		unsigned digit = (unsigned char)*text - '0';

		if (digit > 9)
			digit = (unsigned char)*text - 'a' + 10u;
		if (digit >= base || (digit > 9 && *text < 'a'))
			break;
		if (value > (UINT64_MAX - digit) / base)
			return NULL;
		value = value * base + digit;
	}
	if (text == begin || *text != end)
		return NULL;
	*ret = value;
	return text + 1;
}

/* "r-xp " */
static char *take_permissions(char *text, struct maps_line *ret)
{
	if (!text || strnlen(text, 5) < 5 || text[4] != ' ' || (text[0] != 'r' && text[0] != '-') ||
	    (text[1] != 'w' && text[1] != '-') || (text[2] != 'x' && text[2] != '-'))
		return NULL;
	ret->reads = text[0] == 'r';
	ret->writes = text[1] == 'w';
	ret->executes = text[2] == 'x';
	return text + 5;
}

/* The last number ends with the line if there is no path. */
static char *take_inode(char *text, uint64_t *ret)
{
	char end = text ? text[strspn(text, "0123456789")] : '\0';
	char *behind = text ? take_number(text, 10, end, ret) : NULL;

	if (!behind || (end && end != ' ' && end != '\n'))
		return NULL;
	behind--;
	return behind + strspn(behind, " ");
}

bool maps_line_parse(char *line, struct maps_line *ret)
{
	uint64_t major_number = 0, minor_number = 0;
	char *pos = take_number(line, 16, '-', &ret->start);

	pos = pos ? take_number(pos, 16, ' ', &ret->end) : NULL;
	pos = take_permissions(pos, ret);
	pos = pos ? take_number(pos, 16, ' ', &ret->offset) : NULL;
	pos = pos ? take_number(pos, 16, ':', &major_number) : NULL;
	pos = pos ? take_number(pos, 16, ' ', &minor_number) : NULL;
	pos = take_inode(pos, &ret->inode);
	if (!pos)
		return false;
	pos[strcspn(pos, "\n")] = '\0';
	ret->device = makedev((unsigned)major_number, (unsigned)minor_number);
	ret->path = pos;
	return true;
}
