#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Top-down on a Neoverse, whose PMU stalls never in QEMU: cycles and stalls in one group, all cycles do work. On a core
# without a table what comes nearest is recorded, and why is said.
set -eu
. "$TOP/tests/guest/lib/guest.bash"
need_kernel 6.1
add_program "$CROSS/precord"
build_program work
record() {
	cat <<'EOF'
precord -a --topdown=2 -F 2000 -o /out/topdown.trace -- work 1000 >/out/said 2>&1
EOF
}
record | run_guest --icount || { cat console; fail 'top-down on Neoverse N1'; }
grep -q 'this core counts no slots' out/said || { cat out/said; fail 'what N1 cannot tell'; }
preport -i out/topdown.trace topdown >text || fail 'preport topdown'
sed -n '1p; /^of cycles/,/^$/p; $p' text >golden
diff - golden <<'EOF' || fail 'not what it should say'
top-down on Arm Neoverse N1
of cycles   95 % range     part
    0.0 %      0.0-0.0     front end stalls
    0.0 %      0.0-0.0     back end stalls
  100.0 %  100.0-100.0  !  neither

the processor is not stalled: 100 % (100-100) of cycles do useful work; the remedy left is doing less: a better algorithm, vector instructions
EOF
preport -i out/topdown.trace topdown --format=csv | grep -q '^function,heavy,work,0\.[0-9]*,[0-9]*,retiring,,1.000000,1.000000,1.000000,' ||
	fail 'the function that works'
record | run_guest --icount --cpu cortex-a57 || { cat console; fail 'top-down on a core without a table'; }
grep -q 'there is no table for this processor (part 0xd07)' out/said || { cat out/said; fail 'why there is no top-down'; }
preport -i out/topdown.trace topdown >text 2>said || fail 'the nearest'
grep -q 'ipc' text && grep -q 'no issue slots were counted' said || { cat text said; fail 'the nearest is not ipc'; }
