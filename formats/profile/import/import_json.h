/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_json.h - how formats written as JSON are distinguished: by the keys of the outermost object.
 */
#ifndef FORMATS_IMPORT_JSON_H
#define FORMATS_IMPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Does the object that @start begins with have the key @key, as far as @len reaches? A key that is cut off counts as absent; a
 * value that is cut off does not matter.
 */
bool import_json_has(const uint8_t *start, size_t len, const char *key);

/* Does it begin as an object ('{') or array ('[') does? */
bool import_json_begins(const uint8_t *start, size_t len, char bracket);

/* Does @text stand anywhere in it? */
bool import_has_text(const uint8_t *start, size_t len, const char *text);

#endif
