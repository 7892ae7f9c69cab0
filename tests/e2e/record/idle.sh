#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder whose rings do not fill wakes about once a second, however many CPUs it follows, and when somebody executes
# something; -v says how often.
# alone: another test's ten thousands of mappings would fill the rings of a recording of the whole system
# slow: it watches a recorder that has nothing to do
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

# wakes WHAT OPTION...: where next to nothing is copied, others' work fills no ring either
wakes() {
	local what=$1 wakeups seconds for_code often
	shift
	precord -v -F 99 -g none -m 8M -o idle.trace "$@" 2>err.txt || { cat err.txt; fail "$what: $?"; }
	wakeups=$(sed -n 's/^precord: \([0-9]*\) wake-ups ([0-9.]* a second).*/\1/p' err.txt)
	for_code=$(sed -n 's/^precord: .* wake-ups .* \([0-9]*\) of them for new code.*/\1/p' err.txt)
	seconds=$(sed -n 's/^precord: \([0-9]*\)\.[0-9] s, .*/\1/p' err.txt)
	echo "$what: $wakeups wake-ups in $seconds s, $for_code of them for new code"
	[ -n "$wakeups" ] && [ -n "$seconds" ] && [ -n "$for_code" ] || { cat err.txt; fail "$what: -v does not say how often"; }
	# One a second; and the beginning and the end of the command. What others execute wakes it as well, and again
	# when it has rested: every 10 ms at first, every 100 ms if that was for nothing,
	# for a process; where all that executes is recorded, on a machine that compiles it is never for nothing.
	[ $1 = -a ] && often=100 || often=25
	[ "$for_code" -le $((seconds * often + 40)) ] || { cat err.txt; fail "$what: $for_code wake-ups for new code"; }
	wakeups=$((wakeups - for_code))
	[ "$wakeups" -le $((seconds * 3 / 2 + 6)) ] || { cat err.txt; fail "$what: $wakeups wake-ups in $seconds s"; }
}

# A wake-up costs one pass at most, and the end of a rest in which nothing was mapped none; how many those are the machine's load decides.
passes() {
	local wakeups for_code passes
	precord -v -F 99 -g none -m 8M -o idle.trace -- sh -c 'i=0; while [ $i -lt 12 ]; do sleep 0.3; i=$((i + 1)); done' 2>err.txt ||
		{ cat err.txt; fail "a command that executes others: $?"; }
	read -r wakeups for_code passes < <(sed -n 's/^precord: \([0-9]*\) wake-ups .* \([0-9]*\) of them for new code; \([0-9]*\) passes.*/\1 \2 \3/p' err.txt)
	echo "a command that executes others: $wakeups wake-ups, $for_code for new code, $passes passes"
	[ "$for_code" -ge 8 ] && [ "$passes" -le $((wakeups + 2)) ] || { cat err.txt; fail "$passes passes for $wakeups wake-ups"; }
}

wakes 'a command that sleeps' -- sleep 5
sleep 60 & victim=$!
trap 'kill $victim' EXIT
wakes 'a process that sleeps' -p $victim --duration 5
precord -q -a -F 99 -o try.trace -- true 2>/dev/null && wakes 'the whole system' -a -- sleep 5
passes
wakes 'a flight recorder' --overwrite=1M -- sleep 5
exit 0
