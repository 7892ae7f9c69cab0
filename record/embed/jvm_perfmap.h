/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_perfmap.h - makes a running Java virtual machine (HotSpot, JDK 17 and later) write its perf map, like "jcmd PID
 * Compiler.perfmap", through its attach socket.
 *
 * The JVM walks its code cache, which may stop its threads for a moment, and leaves /tmp/perf-PID.map behind. So this is
 * done only on request.
 */
#ifndef RECORD_JVM_PERFMAP_H
#define RECORD_JVM_PERFMAP_H

#include "formats/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Is code of libjvm.so mapped in process @pid? */
bool jvm_perfmap_is_jvm(uint32_t pid);

/*
 * Have process @pid, of which @pidfd is one, a Java virtual machine, write its map; back when it has, or after 5 s.
 * ERR_UNSUPPORTED: it is in another PID or mount namespace, takes no commands, or its socket is not its user's.
 * ERR_SYSTEM: it does not answer.
 */
MUST_USE struct err *jvm_perfmap_write(uint32_t pid, int pidfd);

#endif
