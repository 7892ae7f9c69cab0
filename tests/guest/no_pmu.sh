#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An aarch64 machine without a PMU: the clock is sampled instead, counters are said to be missing.
set -eu
. "$TOP/tests/guest/lib/guest.bash"
need_kernel 6.1
add_program "$CROSS/precord"
build_program work
run_guest --cpu neoverse-n1,pmu=off --icount <<'EOF' || { cat console; fail 'the guest cannot record without a PMU'; }
precord -F 1000 -o /out/clock.trace -- work 1000 >/out/said 2>&1
precord stat --format=csv -e cycles,task-clock -- work 10 >/out/stat 2>&1
precord -q -e cycles -o /out/cycles.trace -- work 10 >/out/cycles 2>&1 || echo "status $?" >>/out/cycles
EOF

clock='no hardware counter for cycles here: sampling by cpu-clock, a timer, instead'
grep -qF "$clock" out/said || { cat out/said; fail 'it does not say that the clock is sampled'; }
grep -qF "$clock" out/cycles || { cat out/cycles; fail 'it does not say so where cycles were asked for'; }
grep -q '^,,cycles,,.*not supported' out/stat || { cat out/stat; fail 'cycles are not 0, they are not counted'; }
grep -q '^,,task-clock,[1-9].*counted' out/stat || { cat out/stat; fail 'the clock is counted'; }
preport -i out/clock.trace folded | awk '
	{ weight = $NF; sub(/ [0-9]*$/, ""); all += weight }
	/;main;outer;middle;heavy(;|$)/ { heavy += weight }
	END { exit all < 70e6 || heavy < 0.6 * all || heavy > 0.85 * all }' || {
	preport -i out/clock.trace
	fail 'the shares of a program by its clock'
}
