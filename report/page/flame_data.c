/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_data.c - column after column, so that like stands with like and compresses.
 */
#include "report/page/flame_data.h"

#include "formats/base/text.h"
#include "formats/base/json_writer.h"
#include "report/view/trust.h"
#include "report/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct encoder {
	const struct flame_tree *tree;
	const struct profile *p;
	const struct profile_facts *facts;
	const struct flame_data_view *view;
	struct arena arena;
	struct writer *out;
	struct strtab texts; /* number 0 is "" */
	bool *kernel_threads; /* by thread of the tree */
};

/* ---- what the numbers are of ---- */

static bool starts_kernel_thread(const struct encoder *e, uint32_t node)
{
	const struct flame_tree *tree = e->tree;

	if (!node)
		return true;
	while (tree->nodes.items[node].parent)
		node = tree->nodes.items[node].parent;

	uint32_t function = tree->functions.items[tree->nodes.items[node].function];
	const char *name = profile_text(e->p, e->p->functions.items[function].name);

	return strncmp(name, "ret_from_fork", 13) == 0 || strncmp(name, "kthread", 7) == 0;
}

/* Idle tasks, and threads that began in the kernel and were never seen elsewhere. */
static void find_kernel_threads(struct encoder *e)
{
	const struct flame_tree *tree = e->tree;

	e->kernel_threads = ARENA_ARRAY(&e->arena, bool, tree->threads.len + 1);
	for (size_t i = 0; i < tree->threads.len; i++)
		e->kernel_threads[i] = true;
	for (size_t i = 0; i < tree->rows.len; i++) {
		const struct flame_tree_row *row = &tree->rows.items[i];
		uint32_t pid = e->p->threads.items[tree->threads.items[row->thread]].pid;

		if (pid != 0 &&
		    (row->stop != UNWIND_NOT_WALKED || !starts_kernel_thread(e, row->node)))
			e->kernel_threads[row->thread] = false;
	}
}

static void put_text(struct json *json, struct encoder *e, const char *key, const char *text)
{
	json_string(json, key, text_escape(&e->arena, text ? text : ""));
}

static void put_profile_text(struct json *json, struct encoder *e, const char *key, uint32_t string)
{
	put_text(json, e, key, profile_text(e->p, string));
}

static void put_events(struct json *json, struct encoder *e)
{
	json_open(json, "sets", '[');
	for (uint32_t i = 0, at = 0; i < e->p->types.len; i++) {
		const struct profile_value_type *event = &e->p->types.items[i];
		struct profile_sum total = profile_total(e->p, i);
		uint32_t first = at;

		while (at < e->tree->samples.len && e->tree->samples.items[at].event == i)
			at++;
		if (at == first)
			continue;
		json_open(json, NULL, '{');
		if (e->view->names)
			put_text(json, e, "name", e->view->names[i]);
		else
			put_profile_text(json, e, "name", event->name);
		put_profile_text(json, e, "unit", event->unit);
		json_uint(json, "rate", event->rate);
		json_bool(json, "isFreq", event->is_freq);
		json_bool(json, "first", i == e->view->event);
		if (!profile_is_counted(&total))
			json_bool(json, "vague", true);
		if (e->view->compare && i == e->view->other)
			json_bool(json, "other", true);
		json_uint(json, "entries", at - first);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static const struct profile_function *function_of(const struct encoder *e, size_t i)
{
	return &e->p->functions.items[e->tree->functions.items[i]];
}

/* Functions whose module is not known are in one behind the others. */
static uint32_t module_number(const struct encoder *e, uint32_t module)
{
	return module == PROFILE_NONE ? (uint32_t)e->p->modules.len : module;
}

static bool has_unknown_module(const struct encoder *e)
{
	for (size_t i = 0; i < e->tree->functions.len; i++)
		if (function_of(e, i)->module == PROFILE_NONE)
			return true;
	return false;
}

static void put_modules(struct json *json, struct encoder *e)
{
	static const char *const kinds[] = { "user", "kernel", "jit", "unknown" };

	json_open(json, "modules", '[');
	for (size_t i = 0; i < e->p->modules.len; i++) {
		const struct profile_module *mod = &e->p->modules.items[i];

		json_open(json, NULL, '[');
		put_profile_text(json, e, NULL, mod->name);
		put_profile_text(json, e, NULL, mod->path);
		json_string(json, NULL, kinds[mod->kind]);
		json_close(json, ']');
	}
	if (has_unknown_module(e)) {
		json_open(json, NULL, '[');
		json_string(json, NULL, "[unknown]");
		json_string(json, NULL, "");
		json_string(json, NULL, kinds[PROFILE_UNKNOWN]);
		json_close(json, ']');
	}
	json_close(json, ']');
}

/* A name of @thread, marked if it recorded: two recordings that are compared keep what is the same in both together. */
static void put_thread_name(struct json *json, struct encoder *e,
			    const struct profile_thread *thread, uint32_t name)
{
	uint32_t recorder = e->view->compare ? 0 : e->facts->recorder_pid;
	const char *mark = recorder && thread->pid == recorder ? VIEW_RECORDER_MARK : "";

	put_text(json, e, NULL, arena_printf(&e->arena, "%s%s", profile_text(e->p, name), mark));
}

static void put_id(struct json *json, uint32_t id)
{
	if (id == PROFILE_NONE)
		json_number(json, NULL, "null");
	else
		json_uint(json, NULL, id);
}

static void put_threads(struct json *json, struct encoder *e)
{
	json_open(json, "threads", '[');
	for (size_t i = 0; i < e->tree->threads.len; i++) {
		const struct profile_thread *thread =
			&e->p->threads.items[e->tree->threads.items[i]];

		json_open(json, NULL, '[');
		put_id(json, thread->pid);
		put_id(json, thread->tid);
		put_thread_name(json, e, thread, thread->comm);
		put_thread_name(json, e, thread, thread->process);
		json_uint(json, NULL, e->kernel_threads[i]);
		json_close(json, ']');
	}
	json_close(json, ']');
}

static void put_seconds(struct json *json, struct encoder *e, const char *key, uint64_t ns)
{
	json_number(json, key,
		    arena_printf(&e->arena, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
				 ns % 1000000000));
}

static void put_recording(struct json *json, struct encoder *e)
{
	const struct profile_facts *facts = e->facts;
	struct trust trust;

	trust_judge(&trust, e->p, facts);
	put_text(json, e, "title", e->view->title);
	put_text(json, e, "command", facts->cmdline);
	put_text(json, e, "host", facts->hostname);
	put_text(json, e, "kernel", facts->os_release);
	put_text(json, e, "cpu", facts->cpu_model);
	put_text(json, e, "tool", facts->tool);
	put_text(json, e, "filter", facts->filter);
	put_text(json, e, "trust", trust_line(&trust, &e->arena));
	json_bool(json, "whole", facts->complete);
	json_uint(json, "lostKernel", facts->lost_by_kernel);
	json_uint(json, "lostRecorder", facts->lost_by_recorder);
	put_seconds(json, e, "duration", facts->duration_ns);
	put_seconds(json, e, "start", e->tree->clock.start_ns);
	put_seconds(json, e, "bin", e->tree->clock.bin_ns);
	json_uint(json, "bins", e->tree->clock.nbins);
}

static void put_view(struct json *json, struct encoder *e)
{
	put_text(json, e, "by", e->view->by);
	json_bool(json, "callers", e->view->callers);
	json_bool(json, "rootOnTop", e->view->root_on_top);
}

/* What does not fit a figure, as it is never sure, is a large one. */
static void put_noise(struct json *json, struct encoder *e)
{
	if (!e->view->effects)
		return;
	json_open(json, "noise", '{');
	json_number(json, "run", arena_printf(&e->arena, "%g", e->view->run_noise));
	json_open(json, "effects", '[');
	for (size_t i = 0; i < e->tree->functions.len; i++) {
		double effect = e->view->effects[e->tree->functions.items[i]];

		json_number(json, NULL, arena_printf(&e->arena, "%.3g", MIN(effect, 1e9)));
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void put_stops(struct json *json)
{
	json_open(json, "stops", '[');
	for (int i = 0; i < UNWIND_STOPS; i++)
		json_string(json, NULL, unwind_stop_is_complete(i) ? "" : unwind_stop_name(i));
	json_close(json, ']');
}

static struct err *put_head(struct encoder *e)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	struct json json;

	if (!stream)
		return err_system(errno, "cannot make the page");
	json_init(&json, stream);
	json_open(&json, NULL, '{');
	json_uint(&json, "version", 1);
	put_recording(&json, e);
	put_view(&json, e);
	put_events(&json, e);
	put_modules(&json, e);
	put_threads(&json, e);
	put_noise(&json, e);
	put_stops(&json);
	json_uint(&json, "functions", e->tree->functions.len);
	json_uint(&json, "nodes", e->tree->nodes.len);
	json_uint(&json, "rows", e->tree->rows.len);
	json_close(&json, '}');
	if (fclose(stream) != 0) {
		free(text);
		return err_system(ENOMEM, "cannot make the page");
	}
	writer_u32(e->out, (uint32_t)len);
	writer_bytes(e->out, text, len);
	free(text);
	return NULL;
}

/* ---- columns ---- */

static uint32_t text_number(struct encoder *e, uint32_t string)
{
	return strtab_add(&e->texts, text_escape(&e->arena, profile_text(e->p, string)));
}

/* Names first, in the order of functions, so that a name's number grows with the function's. */
static void put_functions(struct encoder *e)
{
	size_t count = e->tree->functions.len;
	uint32_t *names = ARENA_ARRAY(&e->arena, uint32_t, count + 1);
	uint32_t *files = ARENA_ARRAY(&e->arena, uint32_t, count + 1);

	strtab_add(&e->texts, "");
	for (size_t i = 0; i < count; i++)
		names[i] = text_number(e, function_of(e, i)->name);
	for (size_t i = 0; i < count; i++)
		files[i] = text_number(e, function_of(e, i)->file);

	writer_u32(e->out, e->texts.len);
	for (uint32_t i = 0; i < e->texts.len; i++)
		writer_string(e->out, strtab_get(&e->texts, i));
	for (size_t i = 0; i < count; i++)
		writer_zigzag(e->out, (int64_t)names[i] - (i ? names[i - 1] : 0));
	for (size_t i = 0; i < count; i++)
		writer_uleb(e->out, module_number(e, function_of(e, i)->module));
	for (size_t i = 0; i < count; i++)
		writer_uleb(e->out, files[i]);
	for (size_t i = 0; i < count; i++)
		writer_uleb(e->out, function_of(e, i)->line);
}

static void put_nodes(struct encoder *e)
{
	const struct flame_tree *tree = e->tree;

	for (size_t i = 1; i < tree->nodes.len; i++)
		writer_uleb(e->out, tree->nodes.items[i - 1].depth + 1 - tree->nodes.items[i].depth);
	for (size_t i = 1; i < tree->nodes.len; i++)
		writer_uleb(e->out, tree->nodes.items[i].function << 1 |
					    tree->nodes.items[i].inlined);
}

static void put_rows(struct encoder *e)
{
	const struct flame_tree *tree = e->tree;

	for (size_t i = 0; i < tree->rows.len; i++)
		writer_uleb(e->out,
			    tree->rows.items[i].node - (i ? tree->rows.items[i - 1].node : 0));
	for (size_t i = 0; i < tree->rows.len; i++)
		writer_uleb(e->out, tree->rows.items[i].thread);
	for (size_t i = 0; i < tree->rows.len; i++) /* + 1: not known is 0 */
		writer_uleb(e->out, (uint32_t)(tree->rows.items[i].cpu + 1));
	for (size_t i = 0; i < tree->rows.len; i++)
		writer_uleb(e->out, tree->rows.items[i].stop);
}

/* Samples [first, end) of one event. */
static void put_set(struct encoder *e, size_t first, size_t end)
{
	const struct flame_tree_sample *samples = e->tree->samples.items;

	for (size_t i = first; i < end; i++)
		writer_uleb(e->out, samples[i].row - (i > first ? samples[i - 1].row : 0));
	for (size_t i = first; i < end; i++) {
		bool same_row = i > first && samples[i].row == samples[i - 1].row;

		writer_uleb(e->out, samples[i].bin - (same_row ? samples[i - 1].bin : 0));
	}
	for (size_t i = first; i < end; i++)
		writer_uleb(e->out, samples[i].count - 1);
	for (size_t i = first; i < end; i++)
		writer_zigzag(e->out, (int64_t)(samples[i].weight -
						(i > first ? samples[i - 1].weight : 0)));
}

static void put_sets(struct encoder *e)
{
	const struct flame_tree_sample *samples = e->tree->samples.items;
	size_t count = e->tree->samples.len;

	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && samples[end].event == samples[first].event;)
			end++;
		put_set(e, first, end);
	}
}

struct err *flame_data_write(const struct flame_tree *tree, const struct profile *p,
			     const struct profile_facts *facts, const struct flame_data_view *view,
			     struct writer *out)
{
	struct encoder e = { .tree = tree, .p = p, .facts = facts, .view = view, .out = out };

	find_kernel_threads(&e);

	struct err *err = put_head(&e);

	if (!err) {
		put_functions(&e);
		put_nodes(&e);
		put_rows(&e);
		put_sets(&e);
	}
	strtab_deinit(&e.texts);
	arena_deinit(&e.arena);
	return err;
}
