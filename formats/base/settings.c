/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - small files, read as a whole up to a limit.
 */
#include "formats/base/settings.h"

#include "formats/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MACHINE_FILE "/etc/precord.conf"
#define FILE_MAX_LEN 65536

static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static struct err *read_line(struct settings *settings, char *line, const char *file, unsigned number)
{
	struct setting setting = { .file = file, .line = number };
	char *equals;

	line = trim(line);
	if (!*line || *line == '#')
		return NULL;
	equals = strchr(line, '=');
	if (!equals || equals == line)
		return err_remedy(err_new(ERR_USAGE, "%s:%u: '%s' is not a setting", file, number, line),
				  "lines are NAME = VALUE, see 'preport config'");
	*equals = '\0';
	setting.name = arena_strdup(&settings->arena, trim(line));
	setting.value = arena_strdup(&settings->arena, trim(equals + 1));
	vec_push(&settings->list, setting);
	return NULL;
}

/* Only files that no user but root and this one can write. */
static const char *distrust(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is no file";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it belongs to another user";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "others can write to it";
	return st->st_size > FILE_MAX_LEN ? "it is larger than 64 KB" : NULL;
}

static struct err *read_text(struct settings *settings, int fd, const char *path)
{
	char *text = arena_alloc(&settings->arena, FILE_MAX_LEN + 1), *rest = text, *line;
	size_t len = 0;
	ssize_t got;
	struct err *err = NULL;

	while (len < FILE_MAX_LEN && (got = read(fd, text + len, FILE_MAX_LEN - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	if (strlen(text) != len)
		return err_remedy(err_new(ERR_USAGE, "'%s' is not text: byte %zu is 0", path, strlen(text)),
				  "lines are NAME = VALUE, see 'preport config'");
	for (unsigned number = 1; !err && (line = strsep(&rest, "\n")); number++)
		err = read_line(settings, line, path, number);
	return err;
}

static struct err *read_file(struct settings *settings, const char *path)
{
	struct settings_file file = { .path = path };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct err *err = NULL;
	struct stat st;

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		return err_system(errno, "cannot read '%s'", path);
	if (fd < 0)
		file.why_not = errno == EACCES ? "permission denied" : "it is not there";
	else if (fstat(fd, &st) != 0)
		file.why_not = "it cannot be looked at";
	else
		file.why_not = distrust(&st);
	vec_push(&settings->files, file);
	if (!file.why_not)
		err = read_text(settings, fd, path);
	if (fd >= 0)
		close(fd);
	return err;
}

static const char *user_file(struct arena *arena)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		return arena_printf(arena, "%s/precord/config", config);
	return home && *home == '/' ? arena_printf(arena, "%s/.config/precord/config", home) : NULL;
}

struct err *settings_read(struct settings *ret)
{
	const char *only = getenv("PRECORD_CONFIG");
	const char *user = user_file(&ret->arena);
	struct err *err;

	if (only)
		return *only ? read_file(ret, arena_strdup(&ret->arena, only)) : NULL;
	err = read_file(ret, MACHINE_FILE);
	return err || !user ? err : read_file(ret, user);
}

static struct err *find_name(struct arena *arena, const struct setting_name *names, const struct setting *setting,
			     const struct setting_name **ret)
{
	struct text_near near = { .wanted = setting->name };
	struct err *err;
	const char *hint;

	for (const struct setting_name *name = names; name->name; name++) {
		text_near_offer(&near, name->name);
		if (strcmp(name->name, setting->name) == 0) {
			*ret = name;
			return NULL;
		}
	}
	hint = text_near_hint(&near, arena);
	err = err_new(ERR_USAGE, "%s:%u: there is no setting '%s'", setting->file, setting->line, setting->name);
	return err_remedy(err, "%s", hint ? hint : "'preport config' lists them");
}

static bool is_no(const char *value)
{
	return strcmp(value, "no") == 0 || strcmp(value, "off") == 0 || strcmp(value, "false") == 0;
}

struct err *settings_option(struct settings *settings, const struct setting_name *names,
			    const struct setting *setting, const char **ret)
{
	struct arena *arena = &settings->arena;
	const struct setting_name *name = NULL;
	struct err *err = find_name(arena, names, setting, &name);

	if (err)
		return err;
	const char *option = name->option ? name->option : name->name;
	bool no = is_no(setting->value), yes = strcmp(setting->value, "yes") == 0;

	*ret = NULL;
	if (name->kind == SETTING_VALUE)
		*ret = arena_printf(arena, "--%s=%s", option, setting->value);
	else if (name->kind != SETTING_PAGER && !yes && !no)
		return err_new(ERR_USAGE, "%s:%u: '%s' is neither yes nor no", setting->file, setting->line, setting->value);
	else if (name->kind == SETTING_YES && yes)
		*ret = arena_printf(arena, "--%s", option);
	else if (name->kind != SETTING_YES && no)
		*ret = arena_printf(arena, "--no-%s", option);
	else if (name->kind == SETTING_PAGER && !yes)
		setenv("PREPORT_PAGER", setting->value, /* overwrite= */ 0);
	return NULL;
}

void settings_deinit(struct settings *settings)
{
	vec_deinit(&settings->list);
	vec_deinit(&settings->files);
	arena_deinit(&settings->arena);
}
