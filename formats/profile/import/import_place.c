/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_place.c - one pattern after the other; a text must fit the whole of one.
 */
#include "formats/profile/import/import_place.h"

#include "formats/profile/import/import_text.h"

static bool take_word(struct json_text *text, const char *word)
{
	if (!import_starts(*text, word))
		return false;
	text->data += strlen(word);
	text->len -= strlen(word);
	return true;
}

/* A number in front, also "0x..." though that is a pthread's address and no number that the kernel knows. */
static bool take_id(struct json_text *text, uint32_t *ret)
{
	size_t len = 0;
	uint64_t number;

	if (import_starts(*text, "0x") || import_starts(*text, "0X")) {
		for (len = 2; len < text->len && strchr("0123456789abcdefABCDEF", text->data[len]) && text->data[len]; len++)
			;
		*ret = UINT32_MAX;
	} else {
		while (len < text->len && text->data[len] >= '0' && text->data[len] <= '9')
			len++;
		if (!import_number((struct json_text){ text->data, len }, &number))
			return false;
		*ret = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	}
	text->data += len;
	text->len -= len;
	return true;
}

static struct json_text without_quotes(struct json_text text)
{
	if (text.len >= 2 && text.data[0] == '"' && text.data[text.len - 1] == '"')
		return (struct json_text){ text.data + 1, text.len - 2 };
	return text;
}

/* thread (27340): burner-0, or Thread (2060) */
static bool is_bracketed(struct json_text text, struct import_place *ret)
{
	if (!(take_word(&text, "thread (") || take_word(&text, "Thread (")) || !take_id(&text, &ret->tid) ||
	    !take_word(&text, ")"))
		return false;
	if (take_word(&text, ": "))
		ret->name = text;
	else if (text.len)
		return false;
	return true;
}

/* process 12:"python x.py" */
static bool is_process(struct json_text text, struct import_place *ret)
{
	if (!take_word(&text, "process ") || !take_id(&text, &ret->pid) || !take_word(&text, ":"))
		return false;
	ret->process = without_quotes(text);
	return true;
}

/* Process 12 Thread 13 "x" */
static bool is_quoted(struct json_text text, struct import_place *ret)
{
	if (take_word(&text, "Process ") && !(take_id(&text, &ret->pid) && take_word(&text, " ")))
		return false;
	if (!take_word(&text, "Thread ") || !take_id(&text, &ret->tid))
		return false;
	if (text.len && !take_word(&text, " "))
		return false;
	ret->name = without_quotes(text);
	return !text.len || ret->name.len < text.len;
}

/* "10/11" behind the last @stop in front of @end. */
static bool is_pair(struct json_text text, char stop, size_t end, struct import_place *ret)
{
	const char *at = end ? memrchr(text.data, stop, end) : NULL;
	struct json_text pair;

	if (!at || at == text.data)
		return false;
	pair = (struct json_text){ at + 1, end - (size_t)(at + 1 - text.data) };
	if (!take_id(&pair, &ret->pid) || !take_word(&pair, "/") || !take_id(&pair, &ret->tid) || pair.len)
		return false;
	ret->name = (struct json_text){ text.data, (size_t)(at - text.data) };
	return true;
}

/* worker 10/11 (cpu-clock) */
static bool is_ours(struct json_text text, struct import_place *ret)
{
	const char *open = text.len && text.data[text.len - 1] == ')' ? memrchr(text.data, '(', text.len) : NULL;

	if (!open || open == text.data || open[-1] != ' ' || !is_pair(text, ' ', (size_t)(open - 1 - text.data), ret))
		return false;
	ret->event = (struct json_text){ open + 1, text.len - (size_t)(open + 2 - text.data) };
	return true;
}

/* [main tid=12] */
static bool is_async(struct json_text text, struct import_place *ret)
{
	static const char key[] = "tid=";
	const char *at;
	struct json_text id;

	if (text.len < 7 || *text.data != '[' || text.data[text.len - 1] != ']')
		return false;
	at = memmem(text.data, text.len, key, sizeof(key) - 1);
	if (!at || (at != text.data + 1 && at[-1] != ' '))
		return false;
	id = (struct json_text){ at + sizeof(key) - 1, text.len - (size_t)(at - text.data) - sizeof(key) };
	if (!take_id(&id, &ret->tid))
		return false;
	if (at > text.data + 1)
		ret->name = (struct json_text){ text.data + 1, (size_t)(at - text.data) - 2 };
	else
		ret->name = import_trim(id);
	return true;
}

bool import_place(struct json_text text, struct import_place *ret)
{
	static bool (*const patterns[])(struct json_text, struct import_place *) = {
		is_bracketed, is_process, is_quoted, is_ours, is_async,
	};
	static const struct import_place unknown = { .pid = UINT32_MAX, .tid = UINT32_MAX };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		*ret = unknown;
		if (patterns[i](text, ret))
			return true;
	}
	*ret = unknown;
	if (is_pair(text, '-', text.len, ret))
		return true;
	*ret = unknown;
	return false;
}
