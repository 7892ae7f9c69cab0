/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - what configuration files say of a program's options: lines "NAME = VALUE", '#' comments.
 *
 * NAME is the long name of an option, and a line means the option before all that the command line says. A file that
 * somebody else could have written is not read: root's reports are no place for others' commands.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "formats/base/vec.h"

struct setting {
	const char *name, *value;
	const char *file;
	unsigned line;
};

struct settings_file {
	const char *path;
	const char *why_not; /* it is not read; NULL: it is */
};

/* What may stand in them. */
enum setting_kind {
	SETTING_VALUE, /* the value of the option */
	SETTING_YES,   /* "yes" is the option, "no" is without */
	SETTING_NO,    /* "no" is the option "no-NAME", "yes" is without */
	SETTING_PAGER, /* "no" is "no-pager"; else a command for the environment, unless that has one */
};

struct setting_name {
	const char *name; /* NULL ends the table */
	enum setting_kind kind;
	const char *option; /* of this name; NULL: as @name */
	const char *help;
};

struct settings {
	struct arena arena;
	VEC(struct setting) list; /* the machine's first, then the user's, in the order of their lines */
	VEC(struct settings_file) files; /* that were looked for */
};

/*
 * Read the files of @program: the machine's, /etc/precord.conf, then $XDG_CONFIG_HOME/precord/config, ~/.config/precord/config without
 * that. $PRECORD_CONFIG names one instead of both, "" none.
 *
 * ERR_USAGE: a line is none, the message says which.  ERR_SYSTEM: a file is there and cannot be read.
 */
MUST_USE struct err *settings_read(struct settings *ret);
void settings_deinit(struct settings *settings);

/*
 * The option that @setting stands for, "--color=never"; NULL: none. In the arena of @settings. ERR_USAGE: there is no such name in
 * @names, or the value is neither yes nor no.
 */
MUST_USE struct err *settings_option(struct settings *settings, const struct setting_name *names,
				     const struct setting *setting, const char **ret);

#endif
