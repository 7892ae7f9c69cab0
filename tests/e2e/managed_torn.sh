#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of an interpreter that calls all the time are read whole. The same memory read from another CPU, with the same code, at the same
# time, is torn: so the program is one that shows it, and what keeps precord's stacks whole is from where they are read.
#
# TORN_MS=20000 TORN_CONTROL=200000: how long the program shall run meanwhile, and how many stacks the control group reads, for figures
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
[ ${#cpus[@]} -ge 2 ] || skip "there is one CPU, on which nothing reads while another runs"

compare() { # compare NAME COMMAND...: ours and the control group of a program that calls left_ and right_ by turns; $torn rises if that is torn
	local name=$1 program recorder one both
	shift
	taskset -c "${cpus[0]}" "$@" 600 & program=$!
	trap "kill $program 2>/dev/null" EXIT
	burn 50 $program
	precord -v -F 4999 -e cpu-clock -p $program -o $name.trace 2>precord.txt & recorder=$!
	begun $recorder $name.trace
	# Some of a hundred are torn if both run; the more there are to read, the less both have to.
	"$BUILD"/tests/tools/torn_control $program "${cpus[1]}" "${TORN_CONTROL:-2000000}" "${TORN_CONTROL:-20}" >control.txt || fail "$name: the control group read nothing"
	burn "${TORN_MS:-500}" $program
	kill -INT $recorder
	wait $recorder
	kill $program
	echo "$name, control group: $(cat control.txt)"
	grep 'interpreters: ' precord.txt

	preport folded --samples -i $name.trace >ours.txt || fail "$name: no stacks"
	awk '{ n = $NF; l = /left_/; r = /right_/; both += l && r ? n : 0; one += l != r ? n : 0 }
		END { print one + 0, both + 0 }' ours.txt >count.txt
	read -r one both <count.txt
	echo "$name, ours: $one stacks of one side, $both torn"
	[ "$both" = 0 ] || fail "$name: stacks are torn"
	[ "$one" -ge 200 ] || few_stacks precord.txt
	awk '{ exit !($4 >= 20) }' control.txt && torn=$((torn + 1))
}

# Ruby's frames lie in one block, which is read at once: there a control group is hardly torn.
torn=0 tried=0
if python=$(command -v python3); then
	compare python "$python" "$TOP/tests/programs/sides.py"
	tried=1
fi
if php=$(command -v php) && php -r 'exit(PHP_VERSION_ID >= 80600 || PHP_ZTS && PHP_VERSION_ID < 70400 ? 1 : 0);'; then
	compare php "$php" "$TOP/tests/programs/sides.php"
	tried=1
fi
[ $tried = 1 ] || skip "there is no interpreter that is known"
[ $torn -gt 0 ] || skip "the control group is not torn on this machine: whole stacks show nothing"
exit 0
