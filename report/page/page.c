/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - the frame of a page. The policy allows pictures from data: and blob: for what the page itself makes.
 *
 * A script and its style are packed as data is, and a few lines (report/page/web/loader.js) unpack them: a third of the size. The policy
 * checks what the loader inserts as it checks what stands in the page.
 */
#include "report/page/page.h"

#include "formats/base/gzip.h"
#include "formats/base/compiler.h"
#include "formats/base/sha256.h"
#include "report/page/markup.h"

#include <stdbool.h>
#include <stdint.h>

PAGE_ASSET_DECLARE(loader_js);
static const struct page_asset loader[] = { PAGE_ASSET(loader_js), { 0 } };

static void put_base64(FILE *out, const uint8_t *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)data[i] << 16;

		if (i + 1 < len)
			three |= (uint32_t)data[i + 1] << 8;
		if (i + 2 < len)
			three |= data[i + 2];
		putc_unlocked(digits[three >> 18], out);
		putc_unlocked(digits[three >> 12 & 63], out);
		putc_unlocked(i + 1 < len ? digits[three >> 6 & 63] : '=', out);
		putc_unlocked(i + 2 < len ? digits[three & 63] : '=', out);
	}
}

static void add_assets(struct writer *w, const struct page_asset *assets)
{
	for (; assets && assets->data; assets++)
		writer_bytes(w, assets->data, *assets->len);
}

static void put_assets(FILE *out, const struct page_asset *assets)
{
	for (; assets && assets->data; assets++)
		fwrite(assets->data, 1, *assets->len, out);
}

/* The policy's name for what add_assets() joins. */
static void put_hash(FILE *out, const struct page_asset *assets)
{
	uint8_t digest[SHA256_LEN];
	struct sha256 hash;

	sha256_init(&hash);
	for (; assets && assets->data; assets++)
		sha256_add(&hash, assets->data, *assets->len);
	sha256_finish(&hash, digest);
	fputs(" 'sha256-", out);
	put_base64(out, digest, sizeof(digest));
	fputc('\'', out);
}

static bool is_packed(const struct page_template *page)
{
	return page->scripts && page->scripts->data;
}

static void put_policy(FILE *out, const struct page_template *page)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; img-src data: blob:; style-src",
	      out);
	put_hash(out, page->styles);
	if (is_packed(page)) {
		fputs("; script-src", out);
		put_hash(out, loader);
		put_hash(out, page->scripts);
	}
	fputs("\">\n", out);
}

void page_begin(FILE *out, const struct page_template *page)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	put_policy(out, page);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>",
	      out);
	markup_put(out, page->title, SIZE_MAX);
	fputs("</title>\n", out);
	if (!is_packed(page)) {
		fputs("<style>", out);
		put_assets(out, page->styles);
		fputs("</style>\n", out);
	}
	fputs("</head>\n<body>\n", out);
	put_assets(out, page->bodies);
}

struct err *page_add_data(FILE *out, const char *id, const void *data, size_t len)
{
	CLEANUP(writer_deinit) struct writer packed = { 0 };
	struct err *err = gzip_encode(data, len, &packed);

	if (err)
		return err;
	fprintf(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
	put_base64(out, packed.data, packed.len);
	fputs("</script>\n", out);
	return NULL;
}

static struct err *add_packed(FILE *out, const char *id, const struct page_asset *assets)
{
	CLEANUP(writer_deinit) struct writer joined = { 0 };

	add_assets(&joined, assets);
	return page_add_data(out, id, joined.data, joined.len);
}

struct err *page_end(FILE *out, const struct page_template *page)
{
	if (is_packed(page)) {
		struct err *err = add_packed(out, "page-style", page->styles);

		if (!err)
			err = add_packed(out, "page-script", page->scripts);
		if (err)
			return err;
		fputs("<script>", out);
		put_assets(out, loader);
		fputs("</script>\n", out);
	}
	fputs("</body>\n</html>\n", out);
	return NULL;
}
