#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# precord dump says what each thread of a process does, in the words for it, with the script's lines, and the process lives on.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters

# wait_for PID CALL: until its first thread sleeps in the system call with this number
wait_for() { for _ in $(seq 600); do grep -q "^$2 " "/proc/$1/syscall" 2>/dev/null && return; sleep 0.05; done; fail "$1 does not wait"; }
line() { grep -n "LINE $2" "$1" | cut -d: -f1; }

precord dump 2>err.txt && fail "no process was asked for"
grep -q 'precord dump -p PID' err.txt || fail "the remedy is missing"
precord dump -p 2147483647 >out.txt 2>err.txt && fail "a process that there is not was shown"
[ "$(grep -c 2147483647 err.txt)" = 1 ] && grep -q "ps -e" err.txt || { cat err.txt; fail "it is not said which process there is not, and how to find one"; }

[ "$(uname -m)" = x86_64 ] && sleeping=230 || sleeping=115 # clock_nanosleep
sleep 1000 & native=$!
trap 'kill $native 2>/dev/null' EXIT
wait_for $native $sleeping
precord dump -p $native >out.txt 2>err.txt || { cat err.txt; fail "a native program"; }
grep -qx "thread $native \"sleep\": waiting: sleep, in system call clock_nanosleep" out.txt || { cat out.txt; fail "it is not said what a native program waits for"; }
grep -q 'nanosleep' out.txt || fail "there is no stack"
kill -0 $native || fail "it ended"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	room=$(mktemp -d) && cp "$BUILD"/pre{cord,port} "$room" && chmod -R a+rx "$room"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$room/precord" dump -p $native >out.txt 2>err.txt && fail "what root runs was shown to another"
	grep -q 'run as its user or as root' err.txt || { cat err.txt; fail "it is not said who may"; }
	rm -rf "$room"
fi

if python=$(command -v python3); then
	program="$TOP/tests/programs/stands.py"
	"$python" "$program" >ready.txt & script=$!
	trap 'kill $native $script 2>/dev/null' EXIT
	for _ in $(seq 600); do [ "$(wc -l <ready.txt)" = 1 ] && break; sleep 0.05; done # the whole line
	script=$(cut -d' ' -f2 ready.txt)
	wait_for "$script" $sleeping
	for attempt in 1 2 3 4 5 6; do # the thread that runs needs a CPU meanwhile
		precord dump -p "$script" -o kept.trace >out.txt 2>err.txt || { cat err.txt; fail "a script"; }
		grep -q 'running on CPU' out.txt && grep -q "burns (.*stands.py:$(line "$program" BURN)" out.txt && break
	done
	cat out.txt
	grep -q '^process [0-9]* .*: 3 threads$' out.txt || fail "three threads are not there"
	grep -q 'running on CPU [0-9]*\(, has the GIL\)*$' out.txt || fail "it is not said that a thread runs"
	for mark in SLEEP EVER BURN; do
		grep -q "stands.py:$(line "$program" $mark))" out.txt || fail "line $mark is not there"
	done
	grep -qx ' *number: int, text: str' out.txt && grep -qx ' *self: Waiter, what: Event' out.txt || fail "variables and their types are not there"
	grep -q 'secret' kept.trace && fail "a value was recorded"
	grep -q 'waiting: lock, in system call futex$' out.txt || fail "it is not said that a thread waits for a lock"
	preport dump -i kept.trace >again.txt 2>/dev/null && cmp out.txt again.txt || fail "the recording that was kept says something else"
	preport dump -k -i kept.trace 2>/dev/null | grep -q nanosleep || fail "-k shows no function of the kernel"
	kill -0 "$script" || fail "the script ended"
fi
mkdir own && TMPDIR=$PWD/own precord dump -p $native >out.txt 2>err.txt && [ -z "$(ls own)" ] || fail "the recording was left behind"
exit 0
