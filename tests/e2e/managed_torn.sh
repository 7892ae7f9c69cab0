#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of an interpreter that calls all the time are read whole. The same memory read from another CPU, with the same code, at the same
# time, is torn: so the program is one that shows it, and what keeps precord's stacks whole is from where they are read.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
python=$(command -v python3) || skip "there is no python3"
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
[ ${#cpus[@]} -ge 2 ] || skip "there is one CPU, on which nothing reads while another runs"

taskset -c "${cpus[0]}" "$python" "$TOP/tests/programs/sides.py" 600 & program=$!
trap 'kill $program 2>/dev/null' EXIT
burn 50 $program
precord -v -F 4999 -e cpu-clock -p $program -o ours.trace 2>precord.txt & recorder=$!
begun $recorder ours.trace
# Some of a hundred are torn if both run; the more there are to read, the less both have to.
"$BUILD"/tests/tools/torn_control $program "${cpus[1]}" 2000000 20 >control.txt || fail "the control group read nothing"
burn 500 $program
kill -INT $recorder
wait $recorder
cat control.txt

preport folded --samples -i ours.trace >ours.txt || fail "no stacks"
awk '{ n = $NF; l = /left_/; r = /right_/; both += l && r ? n : 0; one += l != r ? n : 0 }
	END { print one + 0, both + 0 }' ours.txt >count.txt
read -r one both <count.txt
echo "ours: $one stacks of one side, $both torn"
[ "$both" = 0 ] || fail "stacks are torn"
[ "$one" -ge 200 ] || few_stacks precord.txt
awk '{ exit !($4 >= 20) }' control.txt || skip "the control group is not torn on this machine: whole stacks show nothing"
exit 0
