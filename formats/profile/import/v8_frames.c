/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_frames.c - nodes are kept as they come; their stacks are made when the first sample needs them.
 */
#include "formats/profile/import/v8_frames.h"

#include <inttypes.h>

#define DEEPEST 2000 /* levels of nodes in nodes; V8 itself writes a few hundred */

void v8_tree_init(struct v8_tree *tree, struct profile *p)
{
	*tree = (struct v8_tree){ .p = p };
}

void v8_tree_deinit(struct v8_tree *tree)
{
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->edges);
	vec_deinit(&tree->ticks);
	import_ids_deinit(&tree->by_id);
}

/* Names in parentheses are V8's own states. */
static enum profile_frame_kind kind_of(struct json_text name, bool has_file)
{
	if (json_is(name, "(idle)") || json_is(name, "(root)"))
		return PROFILE_FRAME_MARKER;
	if (json_is(name, "(program)"))
		return PROFILE_FRAME_NATIVE;
	if (!has_file || (name.len && name.data[0] == '('))
		return PROFILE_FRAME_RUNTIME;
	return PROFILE_FRAME_INTERPRETED;
}

static uint32_t file_of(struct profile *p, struct json_text url)
{
	static const char scheme[] = "file://";
	size_t len = sizeof(scheme) - 1;

	if (url.len > len && memcmp(url.data, scheme, len) == 0)
		url = (struct json_text){ url.data + len, url.len - len };
	return import_text(p, url);
}

static uint32_t line_of(int64_t from_zero)
{
	return from_zero >= 0 && from_zero < UINT32_MAX - 1 ? (uint32_t)from_zero + 1 : 0;
}

/* One key of a call frame; false if it is none of its. */
static bool frame_key(struct json_reader *r, struct profile *p, struct json_text key,
		      struct import_frame *frame)
{
	struct json_text text;

	if (json_is(key, "functionName")) {
		text = json_read_text(r);
		frame->kind = kind_of(text, /* has_file= */ true);
		frame->name = text.len ? import_text(p, text) : profile_string(p, "(anonymous)");
	} else if (json_is(key, "url")) {
		frame->file = file_of(p, json_read_text(r));
	} else if (json_is(key, "lineNumber")) {
		frame->declared = line_of(json_read_int(r));
	} else {
		return false;
	}
	return true;
}

static uint32_t finish_frame(struct profile *p, struct import_frame *frame)
{
	const char *name = profile_text(p, frame->name);

	if (strcmp(name, "(root)") == 0)
		return PROFILE_NONE;
	if (!frame->file && frame->kind == PROFILE_FRAME_INTERPRETED)
		frame->kind = PROFILE_FRAME_RUNTIME;
	return import_frame(p, frame);
}

static void read_call_frame(struct json_reader *r, struct profile *p, struct import_frame *ret)
{
	struct json_text key;

	*ret = (struct import_frame){ .module = PROFILE_NONE };
	if (!json_read_object(r))
		return;
	while (json_read_key(r, &key))
		if (!frame_key(r, p, key, ret))
			json_read_skip(r);
}

uint32_t v8_tree_find(const struct v8_tree *tree, int64_t id)
{
	return import_ids_get(&tree->by_id, (uint64_t)id);
}

/* ---- nodes ---- */

static void read_node(struct v8_tree *tree, struct json_reader *r, uint32_t parent, unsigned depth);

/* Numbers of nodes, or, in older profiles and those of the heap, the nodes themselves. */
static void read_children(struct v8_tree *tree, struct json_reader *r, uint32_t index, unsigned depth)
{
	if (!json_read_array(r))
		return;
	while (json_read_more(r)) {
		struct v8_edge edge = { .parent = index };

		if (json_read_peek(r) == JSON_OBJECT) {
			read_node(tree, r, index + 1, depth + 1);
			continue;
		}
		edge.child = json_read_int(r);
		vec_push(&tree->edges, edge);
	}
}

/* [{"line": 12, "ticks": 3}, …] */
static void read_ticks(struct v8_tree *tree, struct json_reader *r, struct v8_node *node)
{
	struct json_text key;

	node->first_tick = (uint32_t)tree->ticks.len;
	if (!json_read_array(r))
		return;
	while (json_read_more(r) && json_read_object(r)) {
		struct v8_tick tick = { .row = PROFILE_NONE };

		while (json_read_key(r, &key)) {
			if (json_is(key, "line"))
				tick.line = json_read_small(r);
			else if (json_is(key, "ticks"))
				tick.count = json_read_small(r);
			else
				json_read_skip(r);
		}
		if (tick.line && tick.count)
			vec_push(&tree->ticks, tick);
	}
	node->nticks = (uint32_t)tree->ticks.len - node->first_tick;
}

/* What stands directly in a node and is no part of its frame; false if @key is none of it. */
static bool node_key(struct v8_tree *tree, struct json_reader *r, struct json_text key,
		     struct v8_node *node)
{
	if (json_is(key, "id")) {
		node->id = json_read_int(r);
	} else if (json_is(key, "parent")) {
		uint32_t parent = v8_tree_find(tree, json_read_int(r));

		node->parent = parent == PROFILE_NONE ? 0 : parent + 1;
	} else if (json_is(key, "hitCount")) {
		node->hits = json_read_count(r);
	} else if (json_is(key, "selfSize")) {
		node->size = json_read_count(r);
	} else {
		return false;
	}
	return true;
}

static void read_node(struct v8_tree *tree, struct json_reader *r, uint32_t parent, unsigned depth)
{
	uint32_t index = (uint32_t)tree->nodes.len;
	struct v8_node node = { .parent = parent, .stack = PROFILE_NONE,
				.frame.module = PROFILE_NONE };
	struct json_text key;

	if (depth > DEEPEST)
		json_read_fail(r, "a tree of at most 2,000 levels");
	if (!json_read_object(r))
		return;
	vec_push(&tree->nodes, node);
	while (json_read_key(r, &key)) {
		if (json_is(key, "callFrame")) {
			read_call_frame(r, tree->p, &node.frame);
		} else if (json_is(key, "children")) {
			read_children(tree, r, index, depth);
		} else if (json_is(key, "positionTicks")) {
			read_ticks(tree, r, &node);
		} else if (!node_key(tree, r, key, &node) && !frame_key(r, tree->p, key, &node.frame)) {
			json_read_skip(r); /* in older profiles the frame stands directly in the node */
		}
	}
	node.location = finish_frame(tree->p, &node.frame);
	tree->nodes.items[index] = node;
	import_ids_put(&tree->by_id, (uint64_t)node.id, index);
}

void v8_tree_read(struct v8_tree *tree, struct json_reader *r)
{
	if (!json_read_array(r))
		return;
	while (json_read_more(r))
		read_node(tree, r, 0, 0);
}

void v8_tree_read_head(struct v8_tree *tree, struct json_reader *r)
{
	read_node(tree, r, 0, 0);
}

/* Does the way up end? Each step leads to a parent, so that more steps than nodes are a circle. */
static struct err *check_ways(const struct v8_tree *tree)
{
	CLEANUP(memory_freep) uint8_t *sure = memory_zeroed(tree->nodes.len + 1, 1);

	for (uint32_t i = 0; i < tree->nodes.len; i++) {
		size_t steps = 0;

		for (uint32_t at = i + 1; at && !sure[at]; at = tree->nodes.items[at - 1].parent)
			if (steps++ > tree->nodes.len)
				return err_new(ERR_CORRUPT, "node %" PRId64 " is its own ancestor",
					       tree->nodes.items[i].id);
		for (uint32_t at = i + 1; at && !sure[at]; at = tree->nodes.items[at - 1].parent)
			sure[at] = 1;
	}
	return NULL;
}

struct err *v8_tree_connect(struct v8_tree *tree)
{
	for (size_t i = 0; i < tree->edges.len; i++) {
		const struct v8_edge *edge = &tree->edges.items[i];
		uint32_t child = v8_tree_find(tree, edge->child);

		if (child == PROFILE_NONE)
			return err_new(ERR_CORRUPT, "node %" PRId64 " has a child %" PRId64
						    " that is not there",
				       tree->nodes.items[edge->parent].id, edge->child);
		tree->nodes.items[child].parent = edge->parent + 1;
	}
	tree->edges.len = 0;
	return check_ways(tree);
}

uint32_t v8_tree_stack(struct v8_tree *tree, uint32_t index)
{
	VEC(uint32_t) path = { 0 };
	uint32_t stack = 0, at;

	for (at = index + 1; at; at = tree->nodes.items[at - 1].parent) {
		stack = tree->nodes.items[at - 1].stack;
		if (stack != PROFILE_NONE)
			break;
		stack = 0;
		vec_push(&path, at - 1);
	}
	while (path.len) {
		struct v8_node *node = &tree->nodes.items[path.items[--path.len]];

		if (node->location != PROFILE_NONE)
			stack = import_stack(tree->p, stack, node->location);
		node->stack = stack;
	}
	vec_deinit(&path);
	return stack;
}

struct v8_tick *v8_tree_tick(struct v8_tree *tree, uint32_t index)
{
	struct v8_node *node = &tree->nodes.items[index];
	struct v8_tick *ticks = &tree->ticks.items[node->first_tick], used;

	if (!node->nticks)
		return NULL;
	if (node->turn >= node->nticks)
		node->turn = 0;
	if (--ticks[node->turn].count)
		return &ticks[node->turn++];
	used = ticks[node->turn];
	ticks[node->turn] = ticks[--node->nticks];
	ticks[node->nticks] = used;
	return &ticks[node->nticks];
}

uint32_t v8_tree_stack_at(struct v8_tree *tree, uint32_t index, uint32_t line)
{
	const struct v8_node *node = &tree->nodes.items[index];
	struct import_frame frame = node->frame;
	uint32_t parent = node->parent ? v8_tree_stack(tree, node->parent - 1) : 0;

	frame.line = line;
	return node->location == PROFILE_NONE ? parent : import_stack(tree->p, parent, import_frame(tree->p, &frame));
}
