/* SPDX-License-Identifier: Apache-2.0 */
#include "record/system/block_devices.h"

#include "tests/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

TEST(block_devices_are_listed_by_number_as_their_nodes_are_called)
{
	static const char text[] = "major minor  #blocks  name\n\n 254        0  268435456 vda\n 104       16 1 cciss!c0d0\n"
				   " 253 9999 8 dm-9999\n damaged\n 8 1\n";
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char path[] = "/tmp/partitions-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	close(fd);
	CHECK_STR(block_devices_list(path, &arena), "254:0 /dev/vda\n104:16 /dev/cciss/c0d0\n253:9999 /dev/dm-9999\n");
	unlink(path);
	CHECK_STR(block_devices_list(path, &arena), "");
}
