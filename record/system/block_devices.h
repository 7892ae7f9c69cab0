/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_devices.h - what the machine calls its block devices, of which tracepoints have the numbers.
 */
#ifndef RECORD_BLOCK_DEVICES_H
#define RECORD_BLOCK_DEVICES_H

#include "formats/base/arena.h"

/*
 * "254:0 /dev/vda\n253:1 /dev/mapper/vg-root\n" for recording.block_devices, from a file in the form of /proc/partitions (Documentation/filesystems/proc.rst)
 * at @path; "" if it cannot be read. Lines beyond 64 KiB are left out.
 */
const char *block_devices_list(const char *path, struct arena *arena);

#endif
