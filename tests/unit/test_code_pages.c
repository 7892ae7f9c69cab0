/* SPDX-License-Identifier: Apache-2.0 */
#include "record/embed/code_pages.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages of this process. */
TEST(code_pages_are_there_after_the_memory_has_changed)
{
	struct code_pages pages = { 0 };
	struct task_memory memory;
	uint8_t bytes[32];

	if (getenv("EMULATOR"))
		SKIP("it reads the memory of the emulator");
	if (!task_memory_open(&memory, (uint32_t)getpid()))
		SKIP("this process may not read its own memory");
	uint8_t *code = mmap(NULL, 3 * CODE_PAGE_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(code != MAP_FAILED);
	memset(code, 7, 3 * CODE_PAGE_LEN);
	uint64_t ip = (uintptr_t)code;
	const struct code_area area = { ip, ip + 3 * (uint64_t)CODE_PAGE_LEN };

	code_pages_take(&pages, &memory, ip + 100, area);
	code_pages_take(&pages, &memory, ip + CODE_PAGE_LEN, area);
	memset(code, 8, 3 * CODE_PAGE_LEN);
	code_pages_take(&pages, &memory, ip + 200, area); /* is there already */
	CHECK(code_pages_read(&pages, ip + CODE_PAGE_LEN - 16, bytes, sizeof(bytes)));
	CHECK_UINT(bytes[0], 7);
	CHECK_UINT(bytes[31], 7);
	CHECK(!code_pages_read(&pages, ip + 2 * CODE_PAGE_LEN - 16, bytes, sizeof(bytes)));
	code_pages_deinit(&pages);
	task_memory_close(&memory);
	munmap(code, 3 * CODE_PAGE_LEN);
}

TEST(code_pages_have_a_limit)
{
	struct code_pages pages = { 0 };
	const struct task_memory nothing = { .pagemap_fd = -1 };

	for (uint64_t i = 0; i < 2 * CODE_PAGES_MAX; i++)
		code_pages_take(&pages, &nothing, i * CODE_PAGE_LEN, (struct code_area){ 0 });
	CHECK_UINT(pages.pages.len, CODE_PAGES_MAX);
	CHECK(!code_pages_read(&pages, 0, (char[1]){ 0 }, 1));
	code_pages_deinit(&pages);
}

/* Those that the code branches to, in its own mapping, are copied, too, and a page that had no code when it was copied, once more. */
TEST(code_pages_are_taken_where_code_branches_to)
{
	struct code_pages pages = { 0 };
	struct task_memory memory;
	uint8_t bytes[8];
	size_t count;

	if (getenv("EMULATOR"))
		SKIP("it reads the memory of the emulator");
	if (!task_memory_open(&memory, (uint32_t)getpid()))
		SKIP("this process may not read its own memory");
	uint8_t *code = mmap(NULL, 6 * CODE_PAGE_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(code != MAP_FAILED);
	memset(code, 0x90, 6 * CODE_PAGE_LEN);
	uint64_t ip = (uintptr_t)code, number = ip / CODE_PAGE_LEN;
	const struct code_area area = { ip, ip + 4 * (uint64_t)CODE_PAGE_LEN };

	memcpy(code + 90, "\xe9\x00\x10\x00\x00", 5);	   /* before the address: to the second page */
	memcpy(code + 110, "\xe9\x00\x20\x00\x00", 5);	   /* to the third */
	memcpy(code + 120, "\x0f\x84\x00\x40\x00\x00", 6); /* to the fifth, which is another mapping */
	memset(code + 2 * CODE_PAGE_LEN, 0, CODE_PAGE_LEN);
	code_pages_take(&pages, &memory, ip + 100, area);

	uint64_t *numbers = code_pages_numbers(&pages, &count);

	CHECK_UINT(count, 2);
	CHECK_UINT(numbers[0], number);
	CHECK_UINT(numbers[1], number + 2);
	free(numbers);
	memset(code + 2 * CODE_PAGE_LEN, 0x91, CODE_PAGE_LEN);
	code_pages_take(&pages, &memory, ip + 2 * CODE_PAGE_LEN + 64, area);
	CHECK(code_pages_read(&pages, ip + 2 * CODE_PAGE_LEN, bytes, sizeof(bytes)));
	CHECK_UINT(bytes[0], 0x91);
	code_pages_deinit(&pages);
	task_memory_close(&memory);
	munmap(code, 6 * CODE_PAGE_LEN);
}
