/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thing after the other, each in one stretch: lists that miss the cache, sorting, printing, page faults.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 2000000

struct node {
	struct node *next;
	uint32_t value;
};

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

__attribute__((noinline)) static struct node *build(struct node *nodes)
{
	struct node *head = NULL;
	uint64_t at = 1;

	for (size_t i = 0; i < NODES; i++) {
		at = (at * 48271) % 1999993;
		nodes[at].value = (uint32_t)(i * 2654435761u);
		if (nodes[at].next || head == &nodes[at])
			continue;
		nodes[at].next = head;
		head = &nodes[at];
	}
	return head;
}

__attribute__((noinline)) static size_t gather(const struct node *head, uint32_t *values)
{
	size_t count = 0;

	for (; head && count < NODES; head = head->next)
		values[count++] = head->value;
	return count;
}

__attribute__((noinline)) static size_t print(const uint32_t *values, size_t count)
{
	char line[32];
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += (size_t)snprintf(line, sizeof(line), "%u;%x", values[i], values[i]);
	return len;
}

__attribute__((noinline)) static void touch(size_t rounds)
{
	for (size_t i = 0; i < rounds; i++) {
		char *block = malloc(32 << 20);

		memset(block, (int)i, 32 << 20);
		*(volatile char *)block;
		free(block);
	}
}

int main(void)
{
	struct node *nodes = calloc(NODES, sizeof(*nodes));
	uint32_t *values = calloc(NODES, sizeof(*values));

	if (!nodes || !values)
		return 1;

	size_t count = gather(build(nodes), values);

	qsort(values, count, sizeof(*values), compare);
	count = print(values, count);
	touch(20);
	return count == 0;
}
