#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Commands that come in by a FIFO or a descriptor are obeyed and answered while a program runs; what is no command is
# refused in the answer and on standard error, and the recording goes on. Windows of -D hold the samples they should.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
ahead ./shares paced 300 & victim=$!
trap 'kill $victim 2>/dev/null' EXIT

# The times of all samples, in seconds.
times() {
	preport -i "$1" script --no-chain --format=json 2>/dev/null | sed -n 's/^{"kind": "sample", "time_ns": \([0-9]*\),.*/\1/p' |
		awk '{ printf "%.6f\n", $1 / 1e9 }'
}
samples() { preport -i "$1" info --format=json | sed -n 's/^  "samples": \([0-9]*\),$/\1/p'; }

mkfifo ctl ack || fail "no FIFO to be had"
exec 8<>ack
say() { # say COMMAND EXPECTED: the answer to a command
	local answer
	echo "$1" >ctl
	read -r -t 120 -u 8 answer || fail "no answer to '$1'"
	answer=$(tr -d '\0' <<<"$answer")
	case $answer in
	$2) ;;
	*) fail "the answer to '$1' is '$answer'" ;;
	esac
}

# Off from the beginning; nothing before enable, nothing after disable.
precord -F 999 -D -1 --control fifo:ctl,ack -o c.trace -p $victim 2>err.txt & recorder=$!
say ping ack
sleep 0.3
say 'no such thing' "error: unknown command 'no'*"
say $'a\e[31mb' "error: unknown command 'a?x1b?31mb'*"
say 'ping me' "error: command 'ping' takes no 'me'"
say snapshot "error: 'snapshot' needs --overwrite or --switch-output"
say 'enable nonsense' "error: there is no event 'nonsense'*"
printf '%0600d\n' 0 >ctl
read -r -t 120 -u 8 answer && [[ $answer == *"longer than"* ]] || fail "the answer to a line of 600 bytes is '$answer'"
began=$EPOCHREALTIME
say enable ack
burn 300 $victim
say disable ack
window=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a + 0.1 }') # in seconds; a wall clock may be adjusted
say evlist ack
sleep 0.5
say stop ack
wait $recorder || { cat err.txt; fail "status $? after stop"; }
grep -q "^precord: --control: unknown command 'no'" err.txt || { cat err.txt; fail "the unknown command is not named"; }
grep -q $'\e' err.txt && fail "bytes of a command that steer a terminal are written to it"
grep -Eq "^precord: event: (cycles|cpu-clock)" err.txt || { cat err.txt; fail "evlist names no event"; }
n=$(samples c.trace)
[ "$n" -ge 20 ] || { cat err.txt; fail "only $n samples between enable and disable"; }
times c.trace | awk -v window="$window" '{ if (!first) first = $1; last = $1 } END { exit !(last && last - first < window) }' ||
	fail "samples are further apart than enable and disable"

# One event of two.
precord -e cpu-clock,page-faults -F 499 -D -1 --control fifo:ctl,ack -o e.trace -p $victim 2>err.txt & recorder=$!
say 'enable cpu-clock' ack
burn 300 $victim
say stop ack
wait $recorder || { cat err.txt; fail "status $?"; }
[ "$(samples e.trace)" -ge 10 ] || { cat err.txt; fail "'enable cpu-clock' gave $(samples e.trace) samples"; }

# By descriptors, commands in one write, and an end of the commands that ends nothing.
printf 'ping\nenable\n' | precord -F 999 -D -1 --duration 3 --control fd:0 -o f.trace -p $victim 2>err.txt || { cat err.txt; fail "fd:0"; }
[ "$(samples f.trace)" -ge 20 ] || { cat err.txt; fail "fd:0 gave $(samples f.trace) samples"; }

# Windows: samples in both, none between. A machine that stands still for a moment moves the one or leaves nothing
# in the other, and so they are tried again, and longer.
windows() { # windows SCALE: windows of 300 ms with 400 ms between them, or a multiple of that
	precord -F 999 -D $((200 * $1))-$((500 * $1)),$((900 * $1))-$((1200 * $1)) --duration $((3 * $1 / 2 + 1)) \
		-o w.trace -p $victim 2>err.txt || { cat err.txt; fail "windows"; }
	times w.trace | awk -v scale="$1" '{
			if (!n++) first = $1
			at = ($1 - first) / scale
			if (at < 0.4) a++; else if (at > 0.6 && at < 1.1) b++; else between++
		} END { print a + 0, b + 0, between + 0; exit !(a > 5 && b > 5 && !between) }' >counts.txt
}
windows 1 || windows 1 || windows 2 || windows 3 || windows 4 ||
	fail "samples in the first window, the second, elsewhere: $(cat counts.txt)"

# A recording that was never enabled says so, and how it could have been.
never() { # never WORDS ARG...
	precord --duration 0.2 -o n.trace -p $victim "${@:2}" 2>err.txt || { cat err.txt; fail "precord ${*:2}"; }
	grep -q "^precord: nothing was sampled: .*$1" err.txt || { cat err.txt; fail "precord ${*:2}: no word of it"; }
}
never 'give --control' -D -1
never "send 'enable' to --control" -D -1 --control fifo:ctl
never 'before -D' -D 60000
precord --duration 0.2 -o n.trace -p $victim 2>err.txt && ! grep 'nothing was sampled' err.txt || fail "enabled, and the contrary is said"

# What makes no sense is refused before anything is recorded.
refused() { # refused WORDS ARG...
	local words=$1
	shift
	precord -o no.trace "$@" -- true 2>err.txt && fail "precord $* is taken"
	grep -q "$words" err.txt || { cat err.txt; fail "precord $*: no word of it"; }
	[ ! -e no.trace ] || fail "precord $*: a file was left"
}
refused 'neither fifo' --control pipe:x
refused 'a name is missing' --control fifo:x,
refused 'is not a FIFO' --control fifo:/dev/null
refused 'mkfifo' --control fifo:not-there
refused 'descriptor 77' --control fd:77
refused 'windows in ascending order' -D 20-10
refused 'windows in ascending order' -D 10-30,20-40
refused 'windows in ascending order' -D 10-
exit 0
