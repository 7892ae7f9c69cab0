#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What precord leaves with: the command's own status, the signal it died by, 125, 126, 127; and whatever ends a
# recording leaves a complete file.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

complete() { # complete FILE WHEN
	preport -i "$1" info >info.txt 2>&1 || { cat info.txt; fail "$2: the file does not read"; }
	grep -q '^File  *complete' info.txt || { cat info.txt; fail "$2: the file is not complete"; }
}

status() { # status EXPECTED ARG...
	local expected=$1 got
	shift
	rm -f s.trace
	(exec precord -q -o s.trace "$@") >out.txt 2>err.txt
	got=$?
	[ $got = "$expected" ] || { cat err.txt; fail "precord $*: status $got instead of $expected"; }
}

status 0 -- true
complete s.trace "true"
status 3 -- sh -c 'exit 3'
complete s.trace "exit 3"
status $((128 + 11)) -- sh -c 'kill -SEGV $$'
complete s.trace "a command that crashed"
[ -e core ] && fail "precord left a core"
status 127 -- ./no-such-command
grep -q 'no-such-command.*No such file' err.txt || fail "127: $(cat err.txt)"
: >not-executable
status 126 -- ./not-executable
status 125
status 125 -F 0 -- true
status 125 -e no-such-event -- true
status 125 -p 999999999
status 125 -o /no/such/folder/x -- true
status 125 -o . -- true
for option in --freq --count --event --call-graph --mmap-pages --delay --duration --bundle --realtime --cpu --pid; do
	status 125 $option '' -- true
	status 125 $option 'x y' -- true
	[ "$(wc -l <err.txt)" -le 2 ] || { cat err.txt; fail "$option: more than two lines"; }
done
[ ! -e s.trace ] || fail "misuse left a file"

# Signals end the recording, not the file; without a command that is no failure.
for signal in INT TERM HUP; do
	rm -f s.trace
	sleep 300 & victim=$!
	setsid precord -q -o s.trace -p $victim 2>err.txt &
	recorder=$!
	begun $recorder s.trace
	sleep 0.2
	kill -$signal $recorder
	wait $recorder
	got=$?
	[ $got = 0 ] || { cat err.txt; fail "SIG$signal: status $got"; }
	complete s.trace "SIG$signal"
	kill $victim
done

# With one, the command gets the signal too, and its end is ours.
rm -f s.trace
(exec precord -q -o s.trace -- sleep 300) 2>err.txt &
recorder=$!
begun $recorder s.trace
sleep 0.3
kill -TERM $recorder
wait $recorder
got=$?
[ $got = $((128 + 15)) ] || fail "SIGTERM with a command: status $got"
complete s.trace "SIGTERM with a command"

# A recording that ends before its command lets it go on.
start=$SECONDS
status 7 --duration 0.2 -- sh -c 'sleep 1; exit 7'
[ $((SECONDS - start)) -le 120 ] || fail "--duration took long"
complete s.trace "--duration"

# The end of the last target ends the recording.
rm -f s.trace
sh -c 'until [ -s s.trace.part ]; do sleep 0.1; done; sleep 0.3' &
timeout 120 precord -q -o s.trace -p $! 2>err.txt || fail "-p of a process that ends: $?"
complete s.trace "the target ended"

# The previous file is kept, and nobody else may read the new one.
echo old >s.trace
status_file=$(precord -q -o s.trace -- true 2>&1)
[ "$(cat s.trace.old)" = old ] || fail "the previous file was not kept"
[ "$(stat -c %a s.trace)" = 600 ] || fail "mode $(stat -c %a s.trace)"

# A pipe carries the trace, and nothing the command prints.
precord -q -o - -- sh -c 'echo out' 2>err.txt >p.trace || fail "-o -: $?"
grep -q '^out' err.txt || fail "the command's output is gone"
complete p.trace "-o -"
precord -q -o - -- true 2>err.txt | head -c 10 >/dev/null
got=${PIPESTATUS[0]}
[ "$got" = 125 ] || [ "$got" = 0 ] || fail "a closed pipe: status $got"
exit 0
