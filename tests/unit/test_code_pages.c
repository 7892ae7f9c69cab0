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

	code_pages_take(&pages, &memory, ip + 100);
	code_pages_take(&pages, &memory, ip + CODE_PAGE_LEN);
	memset(code, 8, 3 * CODE_PAGE_LEN);
	code_pages_take(&pages, &memory, ip + 200); /* is there already */
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
		code_pages_take(&pages, &nothing, i * CODE_PAGE_LEN);
	CHECK_UINT(pages.pages.len, CODE_PAGES_MAX);
	CHECK(!code_pages_read(&pages, 0, (char[1]){ 0 }, 1));
	code_pages_deinit(&pages);
}
