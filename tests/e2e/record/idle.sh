#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder whose rings do not fill wakes about once a second, however many CPUs it follows, and -v says how often.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

# wakes WHAT OPTION...: where next to nothing is copied, others' work fills no ring either
wakes() {
	local what=$1 wakeups seconds
	shift
	precord -v -F 99 -g none -m 8M -o idle.trace "$@" 2>err.txt || { cat err.txt; fail "$what: $?"; }
	wakeups=$(sed -n 's/^precord: \([0-9]*\) wake-ups ([0-9.]* a second).*/\1/p' err.txt)
	seconds=$(sed -n 's/^precord: \([0-9]*\)\.[0-9] s, .*/\1/p' err.txt)
	echo "$what: $wakeups wake-ups in $seconds s"
	[ -n "$wakeups" ] && [ -n "$seconds" ] || { cat err.txt; fail "$what: -v does not say how often"; }
	# One a second; and the beginning and the end of the command
	[ "$wakeups" -le $((seconds * 3 / 2 + 6)) ] || { cat err.txt; fail "$what: $wakeups wake-ups in $seconds s"; }
}

wakes 'a command that sleeps' -- sleep 5
sleep 60 & victim=$!
trap 'kill $victim' EXIT
wakes 'a process that sleeps' -p $victim --duration 5
precord -q -a -F 99 -o try.trace -- true 2>/dev/null && wakes 'the whole system' -a -- sleep 5
wakes 'a flight recorder' --overwrite=1M -- sleep 5
exit 0
