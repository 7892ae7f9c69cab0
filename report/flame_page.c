/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_page.c - which files of report/web/ make the page, in the order in which they need each other.
 */
#include "report/flame_page.h"

#include "report/page.h"

PAGE_ASSET_DECLARE(flame_css);
PAGE_ASSET_DECLARE(flame_html);
PAGE_ASSET_DECLARE(block_js);
PAGE_ASSET_DECLARE(profile_js);
PAGE_ASSET_DECLARE(stats_js);
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
PAGE_ASSET_DECLARE(app_js);

struct err *flame_page_write(struct session *s, const struct flame_data_view *view, FILE *out)
{
	static const struct page_asset styles[] = { PAGE_ASSET(flame_css), { 0 } };
	static const struct page_asset bodies[] = { PAGE_ASSET(flame_html), { 0 } };
	static const struct page_asset scripts[] = {
		PAGE_ASSET(block_js),
		PAGE_ASSET(profile_js),
		PAGE_ASSET(stats_js),
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
		PAGE_ASSET(app_js),
		{ 0 },
	};
	const struct page_template page = { view->title, styles, bodies, scripts };
	CLEANUP(writer_deinit) struct writer data = { 0 };
	struct flame_tree tree;

	flame_tree_init(&tree, s);

	struct err *err = flame_data_write(&tree, s, view, &data);

	flame_tree_deinit(&tree);
	if (err)
		return err;
	page_begin(out, &page);
	err = page_add_data(out, "profile", data.data, data.len);
	return err ? err : page_end(out, &page);
}
