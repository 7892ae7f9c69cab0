/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic.h - what "help TOPIC" tells that belongs to no one command.
 */
#ifndef BASE_TOPIC_H
#define BASE_TOPIC_H

struct topic {
	const char *name;
	const char *summary;	   /* one line, lower case, no full stop */
	const unsigned char *text; /* lines of at most 80 columns, NUL at the end */
};

#endif
