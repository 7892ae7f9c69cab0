/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_json.c - the reader stops where the beginning is cut off; what it has seen until then counts.
 */
#include "formats/profile/import/import_json.h"

#include "formats/base/json_reader.h"

#include <string.h>

bool import_json_has(const uint8_t *start, size_t len, const char *key)
{
	struct json_reader r;
	struct json_text found;
	bool has = false;

	/* Much faster than to read it all for each format. */
	if (!import_json_begins(start, len, '{') || !import_has_text(start, len, key))
		return false;
	json_reader_init(&r, start, len);
	if (json_read_object(&r))
		while (!has && json_read_key(&r, &found)) {
			has = json_is(found, key);
			json_read_skip(&r);
		}
	json_reader_deinit(&r);
	return has;
}

bool import_json_begins(const uint8_t *start, size_t len, char bracket)
{
	struct json_reader r;

	json_reader_init(&r, start, len);
	return json_read_peek(&r) == (bracket == '{' ? JSON_OBJECT : JSON_ARRAY);
}

bool import_has_text(const uint8_t *start, size_t len, const char *text)
{
	return memmem(start, len, text, strlen(text)) != NULL;
}
