/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcore.h - reads code from /proc/kcore, the running kernel's memory as an ELF core file.
 *
 * Not thread-safe.
 */
#ifndef RECORD_KCORE_H
#define RECORD_KCORE_H

#include "formats/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KCORE_PATH "/proc/kcore"

struct kcore;

/*
 * Open the core file at @path. RECORDING_CODE_EMBEDDED is success, and *@ret the caller's; otherwise it says why not, and
 * *@ret is untouched.
 */
enum recording_code kcore_open(const char *path, struct kcore **ret);
void kcore_close(struct kcore *core);

/*
 * Read @len bytes of code at @addr to @out. False if no segment has all of them, if they cannot be read, or if they are
 * changed faster than they can be read. Memory that the kernel cannot read comes as zeros, which code has few of: that counts
 * as not read, too.
 */
bool kcore_read(const struct kcore *core, uint64_t addr, void *out, size_t len);

#endif
