#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user records what is theirs, is told what was given up and how to get it, and is refused the rest with
# a remedy. Nothing of the system's settings is changed: what does not apply to them is left out.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || skip "no performance events here"
command -v setpriv >/dev/null || skip "no setpriv here"
[ -z "$SAN" ] || skip "the sanitizers' libraries may be out of an ordinary user's reach"
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

# A place that they can reach and write to, with a copy that has no capabilities.
dir=$(mktemp -d) && chmod 755 "$dir" && cp shares "$BUILD/precord" "$dir/" && mkdir -m 777 "$dir/out" || fail "cannot set up"
root=
trap 'rm -rf "$dir"; [ -z "$root" ] || kill $root' EXIT
if [ "$(id -u)" = 0 ]; then
	need_recording
	user() { setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"; }
else
	user() { "$@"; }
fi
cd "$dir/out" || fail "cannot go there"
user true 2>/dev/null || skip "cannot become an ordinary user here"

refused() { # refused WHAT ARG...: status 125, what is missing, and what would help
	local what=$1 status
	shift
	user ../precord -o no.trace "$@" >out.txt 2>err.txt
	status=$?
	[ $status = 125 ] || { cat err.txt; fail "$what: status $status"; }
	[ "$(wc -l <err.txt)" = 2 ] || { cat err.txt; fail "$what: not two lines"; }
	[ ! -e no.trace ] || fail "$what: a file was left"
}

if [ "$paranoid" -ge 3 ]; then
	refused "everything" -- true
	grep -q 'perf_event_paranoid' err.txt || fail "paranoid $paranoid is not named"
	exit 0
fi

# Their own processes, user code only if it must be so.
user ../precord -F 999 -o own.trace -- ../shares plain 1 2>err.txt || { cat err.txt; fail "their own command"; }
preport -i own.trace info >info.txt 2>&1 || { cat info.txt; fail "the file does not read"; }
samples=$(preport -i own.trace --by leaf --limit 1000 --format=csv 2>/dev/null | columns samples | awk '{ n += $1 } END { print n + 0 }')
[ "$samples" -ge 100 ] || { cat err.txt info.txt; fail "only $samples samples"; }
preport -i own.trace --by leaf --format=csv 2>/dev/null | columns function | grep -q '^heavy$' || fail "their own function has no name"
if [ "$paranoid" = 2 ]; then
	for file in err.txt info.txt; do
		grep -q 'kernel code is not sampled.*perf_event_paranoid' $file || { cat $file; fail "no word of the missing kernel code in $file"; }
	done
	# A counter that is asked for user code may still interrupt just behind its end; a timer does not.
	grep -qE '(cycles|cpu-clock):u' info.txt || { cat info.txt; fail "the event is not that of user code"; }
	grep -q cycles:u info.txt || ! preport -i own.trace --by module --format=csv 2>/dev/null | grep -q '\[kernel\]' ||
		fail "kernel code was sampled after all"
	refused "kernel code" -e cpu-clock:k -- true
	grep -q 'perf_event_paranoid=1' err.txt || { cat err.txt; fail "no remedy for kernel code"; }
fi
if [ "$paranoid" -ge 1 ]; then
	refused "-a" -a --duration 0.1
	grep -q 'setcap cap_perfmon' err.txt || { cat err.txt; fail "no remedy for -a"; }
fi

# Processes of others.
if [ "$(id -u)" = 0 ]; then
	sleep 60 & root=$!
	refused "-p of root's process" -p $root --duration 0.1
	grep -q "task $root" err.txt || { cat err.txt; fail "-p does not say which task"; }
fi

# Little memory for the rings: smaller ones, said in both places, and samples all the same.
(
	ulimit -l 0
	user ../precord -F 999 -m 16M -o small.trace -- ../shares plain 1
) 2>err.txt || { cat err.txt; fail "ulimit -l 0"; }
preport -i small.trace info >info.txt 2>&1 || { cat info.txt; fail "the file does not read"; }
grep -q '^precord: warning: .*ring buffers of .* instead of 16384 KiB' err.txt && grep -q perf_event_mlock_kb err.txt || { cat err.txt; fail "no word of the smaller rings"; }
grep -q '^Note .*ring buffers of .*perf_event_mlock_kb' info.txt || { cat info.txt; fail "the file does not know of the smaller rings"; }
samples=$(preport -i small.trace info --format=json | sed -n 's/^  "samples": \([0-9]*\),$/\1/p')
[ "$samples" -ge 50 ] || { cat err.txt; fail "only $samples samples with smaller rings"; }
exit 0
