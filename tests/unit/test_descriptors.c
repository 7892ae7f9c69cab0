/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_descriptors.c - what a descriptor was between looks that agree, and that nothing is known between those that differ.
 */
#include "report/load/derive/descriptors.h"
#include "tests/unit/test.h"

#define NOTHING 0

/* The name of descriptor 3 of process 10, NOTHING if it is not known. */
static uint32_t at(const struct descriptors *d, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t name = NOTHING;

	return descriptors_find(d, 10, 3, from_ns, to_ns, &name) ? name : NOTHING;
}

TEST(descriptors_are_known_between_looks_that_agree)
{
	struct descriptors *d = descriptors_new();

	CHECK_UINT(at(d, 0, 5), NOTHING);
	descriptors_look(d, 10, 3, 100, 7);
	CHECK_UINT(at(d, 50, 60), NOTHING); /* one look says nothing about before */
	CHECK_UINT(at(d, 50, 150), 7);
	descriptors_look(d, 10, 3, 200, 7);
	CHECK_UINT(at(d, 120, 130), 7);
	CHECK_UINT(at(d, 50, 60), 7);
	CHECK_UINT(at(d, 300, 310), 7);
	descriptors_look(d, 10, 3, 400, 8); /* closed and opened anew */
	CHECK_UINT(at(d, 120, 130), 7);
	CHECK_UINT(at(d, 300, 310), NOTHING);
	CHECK_UINT(at(d, 50, 60), NOTHING);
	CHECK_UINT(at(d, 500, 510), NOTHING);
	CHECK_UINT(at(d, 390, 410), 8);
	descriptors_free(d);
}

TEST(descriptors_of_a_new_process_are_not_those_of_the_one_before)
{
	struct descriptors *d = descriptors_new();
	uint32_t name;

	descriptors_look(d, 10, 3, 100, 7);
	descriptors_look(d, 10, 3, 200, 7);
	CHECK(descriptors_settled(d, 10, 3, 150));
	CHECK(!descriptors_settled(d, 10, 3, 250));
	CHECK(!descriptors_find(d, 11, 3, 120, 130, &name));
	CHECK(!descriptors_find(d, 10, 4, 120, 130, &name));
	descriptors_forget(d, 10);
	CHECK_UINT(at(d, 120, 130), NOTHING);
	descriptors_look(d, 10, 3, 300, 9);
	descriptors_look(d, 10, 3, 400, 9);
	CHECK_UINT(at(d, 320, 330), 9);
	descriptors_free(d);
}
