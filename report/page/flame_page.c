/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_page.c - which files of report/page/web/ make the page, in the order in which they need each other.
 */
#include "report/page/flame_page.h"

#include "report/page/lanes_data.h"

#include <assert.h>

#define ASSETS_MAX 32

PAGE_ASSET_DECLARE(flame_css);
PAGE_ASSET_DECLARE(flame_html);
PAGE_ASSET_DECLARE(block_js);
PAGE_ASSET_DECLARE(profile_js);
PAGE_ASSET_DECLARE(stats_js);
PAGE_ASSET_DECLARE(noise_js);
PAGE_ASSET_DECLARE(names_js);
PAGE_ASSET_DECLARE(tree_js);
PAGE_ASSET_DECLARE(callers_js);
PAGE_ASSET_DECLARE(search_js);
PAGE_ASSET_DECLARE(functions_js);
PAGE_ASSET_DECLARE(colours_js);
PAGE_ASSET_DECLARE(boxes_js);
PAGE_ASSET_DECLARE(draw_js);
PAGE_ASSET_DECLARE(strip_js);
PAGE_ASSET_DECLARE(picture_js);
PAGE_ASSET_DECLARE(state_js);
PAGE_ASSET_DECLARE(view_js);
PAGE_ASSET_DECLARE(time_js);
PAGE_ASSET_DECLARE(keys_js);
PAGE_ASSET_DECLARE(app_js);
PAGE_ASSET_DECLARE(lanes_css);
PAGE_ASSET_DECLARE(lanes_html);
PAGE_ASSET_DECLARE(lanes_js);
PAGE_ASSET_DECLARE(latency_js);
PAGE_ASSET_DECLARE(spans_js);
PAGE_ASSET_DECLARE(chain_js);

static const struct page_asset own_styles[] = { PAGE_ASSET(flame_css), { 0 } };
static const struct page_asset own_bodies[] = { PAGE_ASSET(flame_html), { 0 } };
static const struct page_asset own_scripts[] = {
	PAGE_ASSET(block_js),
	PAGE_ASSET(profile_js),
	PAGE_ASSET(stats_js),
	PAGE_ASSET(noise_js),
	PAGE_ASSET(names_js),
	PAGE_ASSET(tree_js),
	PAGE_ASSET(callers_js),
	PAGE_ASSET(search_js),
	PAGE_ASSET(functions_js),
	PAGE_ASSET(colours_js),
	PAGE_ASSET(boxes_js),
	PAGE_ASSET(draw_js),
	PAGE_ASSET(strip_js),
	PAGE_ASSET(picture_js),
	PAGE_ASSET(state_js),
	PAGE_ASSET(view_js),
	PAGE_ASSET(time_js),
	PAGE_ASSET(keys_js),
	{ 0 },
};
static const struct page_asset last_script[] = { PAGE_ASSET(app_js), { 0 } };

/* Only where it is known what threads did when. */
static const struct page_asset lanes_styles[] = { PAGE_ASSET(lanes_css), { 0 } };
static const struct page_asset lanes_bodies[] = { PAGE_ASSET(lanes_html), { 0 } };
static const struct page_asset lanes_scripts[] = { PAGE_ASSET(spans_js), PAGE_ASSET(chain_js), PAGE_ASSET(latency_js), PAGE_ASSET(lanes_js), { 0 } };

/* One list after another; the rest of @ret stays zero, which ends it. */
static void join(struct page_asset ret[ASSETS_MAX], const struct page_asset *assets)
{
	size_t at = 0;

	while (ret[at].data)
		at++;
	for (; assets && assets->data; assets++) {
		assert(at + 1 < ASSETS_MAX);
		ret[at++] = *assets;
	}
}

static struct err *write_page(const struct page_template *page, const struct writer *data,
			      const struct writer *lanes, const struct flame_page_more *more, FILE *out)
{
	struct err *err;

	page_begin(out, page);
	err = page_add_data(out, "profile", data->data, data->len);
	if (!err && lanes->len)
		err = page_add_data(out, "lanes-data", lanes->data, lanes->len);
	if (!err && more->write)
		err = more->write(more->context, out);
	return err ? err : page_end(out, page);
}

struct err *flame_page_write_more(const struct profile *p, const struct profile_facts *facts,
				  const struct flame_data_view *view,
				  const struct flame_page_more *more, FILE *out)
{
	struct page_asset styles[ASSETS_MAX] = { 0 }, bodies[ASSETS_MAX] = { 0 },
			  scripts[ASSETS_MAX] = { 0 };
	CLEANUP(writer_deinit) struct writer data = { 0 };
	CLEANUP(writer_deinit) struct writer lanes = { 0 };
	bool has_lanes = p->spans.spans.len > 0;
	struct flame_tree tree;

	join(styles, own_styles);
	join(styles, has_lanes ? lanes_styles : NULL);
	join(styles, more->styles);
	join(bodies, more->bodies);
	join(bodies, own_bodies);
	join(bodies, has_lanes ? lanes_bodies : NULL);
	join(scripts, own_scripts);
	join(scripts, has_lanes ? lanes_scripts : NULL);
	join(scripts, more->scripts);
	join(scripts, last_script);
	flame_tree_init(&tree, p, facts);

	struct err *err = flame_data_write(&tree, p, facts, view, &data);

	flame_tree_deinit(&tree);
	if (!err && has_lanes)
		err = lanes_data_write(p, facts, &lanes);
	return err ? err
		   : write_page(&(struct page_template){ view->title, styles, bodies, scripts }, &data, &lanes,
				more, out);
}

struct err *flame_page_write(const struct profile *p, const struct profile_facts *facts,
			     const struct flame_data_view *view, FILE *out)
{
	static const struct flame_page_more nothing;

	return flame_page_write_more(p, facts, view, &nothing, out);
}
