#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord stat on a PMU that counts exactly: what a plain program reads of the same event, events that never
# happen, 14 events on 7 counters, groups that do not fit, events by every name.
set -eu
. "$TOP/tests/guest/lib/guest.bash"
need_kernel 6.1
add_program "$CROSS/precord"
build_program work
build_program count
run_guest --icount <<'EOF' || { cat console; fail 'the guest cannot count'; }
count cycles instructions work 500 >/out/plain
precord stat --format=csv -e cycles:u,instructions:u -- work 500 >/out/stat 2>&1
precord stat --format=csv -a -e cycles,instructions -- work 500 >/out/all 2>&1
many=cycles,instructions
for i in 1 2 3 4 5 6; do many=$many,cycles,instructions; done
precord stat --format=csv -e $many -- work 3000 >/out/many 2>&1
precord -q -c 1000003 -e $many -o /out/turns.trace -- work 3000 >/out/turns 2>&1
for names in r8:u armv8_pmuv3/inst_retired/u armv8_pmuv3/event=8/u; do
	precord stat --format=csv -e $names -- work 500
done >/out/names 2>&1
precord stat --format=csv -e cycles,branch-misses,stalled-cycles-backend -- work 10 >/out/absent 2>&1
precord stat -e "{$many}" -- work 10 >/out/large 2>&1 && echo accepted >>/out/large || :
precord -e "{$many}:S" -o /out/large.trace -- work 10 >>/out/large 2>&1 && echo accepted >>/out/large || :
EOF
for file in out/*; do # texts; a trace may hold these two bytes, too
	case $file in *.trace) ;; *) sed -i 's/\r$//' "$file" ;; esac
done

value() { # value FILE EVENT: its count
	awk -F, -v event="$2" '$3 == event { print $4; exit }' "out/$1"
}
for event in cycles instructions; do
	plain=$(awk -v event=$event '$1 == event { print $2 }' out/plain)
	[ "${plain:-0}" -gt 40000000 ] || { cat out/plain; fail "a plain program counts no $event"; }
	# The two may differ by the few instructions around their system calls.
	counted=$(value stat $event:u)
	[ $((counted - plain)) -ge -20 ] && [ $((counted - plain)) -le 20 ] || { cat out/stat; fail "$event: not $plain, as a plain program counts"; }
	[ "$(value all $event)" -gt "$plain" ] || { cat out/all; fail "the whole system has fewer $event than one program"; }
done

# By its number, by its name in sysfs, by its bits: the same, give or take the instructions of an interrupt.
awk -F, '/instr|inst_|event|r8/ && $4 ~ /^[0-9]/ { n++; if ($4 < 40098000 || $4 > 40200000) bad = 1 }
	END { exit n != 3 || bad }' out/names || { cat out/names; fail 'one event by three names'; }

# 14 events are multiplexed on 7 counters; scaled up they agree within 1 in 100.
awk -F, '$10 == "counted" { n++; share = $9 / $8; if (share < 0.4 || share > 0.6) bad = 1
		if (!least || $4 < least) least = $4
		if ($4 > most) most = $4 }
	END { exit n != 14 || bad || most > 1.01 * least }' out/many || { cat out/many; fail '14 events on 7 counters'; }

# Recorded, they are multiplexed as well: precord says so, and preport has the part of the time that each had.
grep -q '^precord: warning: 14 events were multiplexed' out/turns || { cat out/turns; fail '14 events recorded'; }
preport -i out/turns.trace info --format=csv | tr -d '\r' | awk -F, '
	$1 ~ /^(cycles|instructions)$/ { n++; if ($5 < 0.35 || $5 > 0.65 || $4 !~ /^[0-9]+$/) { print; bad = 1 } }
	END { exit n != 14 || bad }' || { preport -i out/turns.trace info; fail 'the time that 14 recorded events had'; }

grep -q '^,,branch-misses,,.*,not supported$' out/absent || { cat out/absent; fail 'an event that is not there'; }
grep -q '^,,stalled-cycles-backend,0,.*,counted$' out/absent || { cat out/absent; fail 'an event that does not happen'; }
[ "$(grep -c 'is too large: 14 events at once' out/large)" = 2 ] || { cat out/large; fail 'a group of 14'; }
! grep -q accepted out/large || { cat out/large; fail 'a group that can never run was taken'; }
