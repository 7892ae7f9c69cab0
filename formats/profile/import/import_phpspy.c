/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_phpspy.c - what phpspy prints of PHP processes.
 *
 *	0 usleep <internal>:-1		depth, function, file:line, leaf first
 *	1 Foo::bar /srv/foo.php:12
 *	# uri = /index.php		of the request, with -@; the address is a label, the rest (cookies) is left out
 *					an empty line, or "# - -", ends a sample
 *
 * There are no times, processes or threads. A depth that does not grow begins the next sample.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include <inttypes.h>

struct phpspy {
	struct profile *p;
	VEC(uint32_t) path; /* locations, leaf first */
	uint32_t type, thread, labels;
	uint64_t left_out; /* lines */
};

/* "1 Foo::bar /srv/foo.php:12"; false if @line is not like that. Functions' names have no blanks, files' may. */
static bool parse_frame(struct json_text line, uint64_t *ret_depth, struct json_text *ret_name, struct json_text *ret_file,
			uint32_t *ret_line)
{
	struct json_text depth = import_take(&line, ' '), number;
	const char *colon;
	uint64_t value = 0;

	*ret_name = import_take(&line, ' ');
	colon = line.len ? memrchr(line.data, ':', line.len) : NULL;
	if (!colon || colon == line.data || !ret_name->len || !import_number(depth, ret_depth))
		return false;
	*ret_file = (struct json_text){ line.data, (size_t)(colon - line.data) };
	number = (struct json_text){ colon + 1, line.len - ret_file->len - 1 };
	if (!json_is(number, "-1") && !import_number(number, &value))
		return false;
	*ret_line = (uint32_t)MIN(value, (uint64_t)UINT32_MAX - 1);
	return true;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	struct import_lines lines;
	struct json_text line, name, file;
	uint64_t depth;
	uint32_t number;
	unsigned frames = 0;

	import_lines_init(&lines, start, len);
	while (frames < 10 && import_lines_next(&lines, &line)) {
		if (len == IMPORT_START_LEN && lines.pos >= lines.end) /* it is cut */
			break;
		if (!line.len || *line.data == '#')
			continue;
		if (!parse_frame(line, &depth, &name, &file, &number) || (!frames && depth))
			return 0;
		frames++;
	}
	return frames ? 75 : 0;
}

static void finish_sample(struct phpspy *in)
{
	struct import_sample sample = { .type = in->type, .thread = in->thread, .labels = in->labels, .count = 1, .weight = 1 };

	if (!in->path.len)
		return;
	while (in->path.len)
		sample.stack = import_stack(in->p, sample.stack, in->path.items[--in->path.len]);
	import_sample(in->p, &sample);
	in->labels = 0;
}

static void add_frame(struct phpspy *in, struct json_text line)
{
	struct import_frame frame = { .module = PROFILE_NONE, .kind = PROFILE_FRAME_INTERPRETED };
	struct json_text name, file;
	uint64_t depth;

	if (!parse_frame(line, &depth, &name, &file, &frame.line)) {
		in->left_out++;
		return;
	}
	if (depth < in->path.len)
		finish_sample(in);
	frame.name = import_text(in->p, name);
	if (json_is(file, "<internal>"))
		frame.kind = PROFILE_FRAME_NATIVE; /* of PHP itself or an extension, in C */
	else
		frame.file = import_text(in->p, file);
	vec_push(&in->path, import_frame(in->p, &frame));
}

/* "# uri = /index.php", which stands behind the frames or in front of them; "# - -" is an end. */
static void take_comment(struct phpspy *in, struct json_text line)
{
	static const char uri[] = "# uri = ";
	struct profile_label label = { .key = profile_string(in->p, "uri") };

	if (import_starts(line, "# - -")) {
		finish_sample(in);
	} else if (import_starts(line, uri)) {
		label.text = import_text(in->p, (struct json_text){ line.data + sizeof(uri) - 1, line.len - (sizeof(uri) - 1) });
		in->labels = label.text ? profile_add_labels(in->p, &label, 1) : 0;
	}
}

static struct err *read_phpspy(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			       struct diag *diag)
{
	struct phpspy in = { .p = p, .type = import_type(p, "samples", "events"),
			     .thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0) };
	struct import_lines lines;
	struct json_text line;

	(void)facts;
	import_lines_init(&lines, input->data, input->len);
	while (import_lines_next(&lines, &line)) {
		if (!line.len)
			finish_sample(&in);
		else if (*line.data == '#')
			take_comment(&in, line);
		else
			add_frame(&in, line);
	}
	finish_sample(&in);
	if (in.left_out)
		diag_warn(diag, "%" PRIu64 " lines that are not frames are left out", in.left_out);
	vec_deinit(&in.path);
	return NULL;
}

const struct importer import_phpspy = {
	.name = "phpspy",
	.what = "text of phpspy, the PHP sampler",
	.extensions = ".phpspy .txt",
	.carries = IMPORT_LINES | IMPORT_LABELS,
	.recognise = recognise,
	.read = read_phpspy,
};
