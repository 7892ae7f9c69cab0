/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_perfmap.h - has a running Java virtual machine (HotSpot, JDK 17 and later) write its perf map, as "jcmd PID Compiler.perfmap"
 * does: over the socket that it opens for such commands.
 *
 * The machine walks its code cache for it, while its threads wait at times, and leaves /tmp/perf-PID.map behind. So it is
 * done only where the user has asked for it.
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
