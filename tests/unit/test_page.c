/* SPDX-License-Identifier: Apache-2.0 */
/* test_page.c - the frame of a page: its policy, its text, its blocks. */
#include "report/page/markup.h"
#include "report/page/page.h"
#include "tests/unit/test.h"

#include <string.h>

static const unsigned char style[] = "p { color: red }", body[] = "<p>Text</p>\n", script[] = "run();";
static const size_t style_len = sizeof(style) - 1, body_len = sizeof(body) - 1, script_len = sizeof(script) - 1;

static const struct page_asset styles[] = { { style, &style_len }, { 0 } };
static const struct page_asset bodies[] = { { body, &body_len }, { 0 } };
static const struct page_asset scripts[] = { { script, &script_len }, { 0 } };

static void print_page(FILE *out, void *context)
{
	const struct page_template *page = context;

	page_begin(out, page);
	CHECK_OK(page_add_data(out, "numbers", "1 2 3", 5));
	CHECK_OK(page_end(out, page));
}

/* The hashes are those that openssl dgst -sha256 -binary | base64 prints. */
TEST(page_without_a_script_allows_none)
{
	struct page_template page = { "a <b> & \"c\"", styles, bodies, NULL };
	const char *html = test_printed(print_page, &page);

	CHECK(strstr(html, "<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
	CHECK(strstr(html, "default-src 'none'"));
	CHECK(strstr(html, "style-src 'sha256-ngewhhP73WDIbgwseeu52VAAJgKdGUsu1IUQQsAm8m4='"));
	CHECK(!strstr(html, "script-src"));
	CHECK(strstr(html, "<style>p { color: red }</style>"));
	CHECK(strstr(html, "id=\"numbers\">H4sI"));
}

TEST(page_with_a_script_packs_it_and_names_its_hash)
{
	struct page_template page = { "t", styles, bodies, scripts };
	const char *html = test_printed(print_page, &page);

	CHECK(strstr(html, "'sha256-vUOElbTHLp1UxxGV/I6teJfpCV5vgaasYjEhPKN2fqQ='\">"));
	CHECK(!strstr(html, "run();"));
	CHECK(!strstr(html, "color: red"));
	CHECK(strstr(html, "id=\"page-style\">H4sI"));
	CHECK(strstr(html, "id=\"page-script\">H4sI"));
}

static void print_markup(FILE *out, void *context)
{
	markup_put(out, context, SIZE_MAX);
	markup_put(out, "<<<", 1);
}

TEST(markup_leaves_no_way_out_of_text_and_attributes)
{
	CHECK_STR(test_printed(print_markup, (void *)"</script>'\"&x"),
		  "&lt;/script&gt;&#39;&quot;&amp;x&lt;");
}
