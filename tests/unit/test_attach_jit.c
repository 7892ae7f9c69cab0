/* SPDX-License-Identifier: Apache-2.0 */
#include "record/embed/attach_jit.h"

#include "tests/unit/test.h"

#define NO_PROCESS 0x7ffffff0u

/* A process that looks like Java, which samples waited for as long as they do. */
static void await_in_vain(struct attach_jit *jit, uint32_t pid)
{
	attach_jit_map(jit, pid, "/tmp/libjvm.so");
	attach_jit_map(jit, pid, NULL);
	CHECK(attach_jit_awaits(jit));
	jit->asked_ns = 1;
	CHECK(!attach_jit_awaits(jit));
}

TEST(attach_jit_says_that_samples_waited_for_what_is_no_java)
{
	struct attach_jit jit = { 0 };
	CLEANUP(diag_deinit) struct diag notes = { 0 };

	await_in_vain(&jit, NO_PROCESS);
	await_in_vain(&jit, NO_PROCESS + 1);
	attach_jit_gather(&jit, UINT64_MAX, &notes);
	attach_jit_go_on(&jit);
	CHECK(!notes.entries);
	for (uint32_t i = 0; i < 3; i++)
		await_in_vain(&jit, NO_PROCESS + 2 + i);
	attach_jit_gather(&jit, UINT64_MAX, &notes);
	attach_jit_go_on(&jit);
	CHECK(notes.entries != NULL);
	attach_jit_deinit(&jit);
}
