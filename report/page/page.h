/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - one self-contained HTML file: a template (style, body, script; see report/page/web/) and blocks of data.
 *
 *	page_begin(out, &page);
 *	err = page_add_data(out, "profile", bytes, len);	// any number of blocks, and markup of your own
 *	err = page_end(out, &page);
 *
 * Nothing is loaded: the content security policy forbids every connection and every script and style but those
 * of the template, which it names by their hashes. So markup of your own (text through markup_put()) can hold
 * neither, even if a name slipped through unescaped. What cannot be written is found by output_commit().
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "formats/base/err.h"

#include <stddef.h>
#include <stdio.h>

/* A file of report/page/web/, embedded by the Makefile's ASSETS. */
struct page_asset {
	const unsigned char *data;
	const size_t *len;
};

/* PAGE_ASSET_DECLARE(tree_js) once above its use in PAGE_ASSET(tree_js): report/page/web/tree.js. */
#define PAGE_ASSET_DECLARE(name)                 \
	extern const unsigned char asset_##name[]; \
	extern const size_t asset_##name##_len
#define PAGE_ASSET(name) { asset_##name, &asset_##name##_len }

struct page_template {
	const char *title; /* plain text, control bytes taken out (text_escape()) */
	/*
	 * Each ends with { NULL }. Scripts become one module, in this order: what a file uses of another must
	 * come before it, and .ci/embed leaves out import and export. Without scripts (NULL) styles are not packed.
	 */
	const struct page_asset *styles, *bodies, *scripts;
};

/* Everything up to the end of the template's bodies. */
void page_begin(FILE *out, const struct page_template *page);

/*
 * Add a block that the page's script gets by @id as gzip in base64: see report/page/web/loader.js. ERR_SYSTEM: out of memory.
 */
MUST_USE struct err *page_add_data(FILE *out, const char *id, const void *data, size_t len);

/* Style and script, and the end. ERR_SYSTEM: out of memory. */
MUST_USE struct err *page_end(FILE *out, const struct page_template *page);

#endif
