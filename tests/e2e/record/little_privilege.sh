#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# What stands between an ordinary user and a recording, each tried as one: CAP_PERFMON and nothing else, a user
# namespace, a seccomp filter (which stands for any kernel that refuses all), perf_event_paranoid at 3 and 4, little
# memory for the rings. Each time it records, or says in two lines what is missing and how to get it.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
[ "$(id -u)" = 0 ] || skip "only root can become several users"
command -v setpriv >/dev/null && command -v unshare >/dev/null || skip "no setpriv or unshare here"
[ -z "$SAN" ] || skip "the sanitizers' libraries may be out of an ordinary user's reach"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread && $CC -O2 -o refuse "$TOP/tests/programs/refuse.c" || fail "cannot compile"

sys=/proc/sys/kernel
paranoid=$(cat $sys/perf_event_paranoid) mlock=$(cat $sys/perf_event_mlock_kb)
dir=$(mktemp -d) && chmod 755 "$dir" && cp shares refuse "$BUILD/precord" "$dir/" && mkdir -m 777 "$dir/out" || fail "cannot set up"
trap 'echo $paranoid >$sys/perf_event_paranoid 2>/dev/null; echo $mlock >$sys/perf_event_mlock_kb 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir/out" || fail "cannot go there"
user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }
user true 2>/dev/null || skip "cannot become an ordinary user here"

samples() { preport -i "$1" info --format=json | sed -n 's/^  "samples": \([0-9]*\),$/\1/p'; }
records() { # records WHAT FILE: it did, with samples
	[ "$(samples "$2")" -ge 20 ] || { cat err.txt; fail "$1: $(samples "$2") samples"; }
}
refused() { # refused WHAT STATUS: status 125, two lines, no file
	[ "$2" = 125 ] || { cat err.txt; fail "$1: status $2"; }
	[ "$(wc -l <err.txt)" = 2 ] || { cat err.txt; fail "$1: not two lines"; }
	[ ! -e no.trace ] || fail "$1: a file was left"
}

# CAP_PERFMON alone: the whole system, kernel code included.
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+perfmon --ambient-caps=-all,+perfmon \
	../precord -a -F 999 -o perfmon.trace -- ../shares plain 1 2>err.txt || { cat err.txt; fail "CAP_PERFMON"; }
records "CAP_PERFMON" perfmon.trace
grep -q 'kernel code is not sampled' err.txt && fail "CAP_PERFMON does not give kernel code"

# Root of a user namespace is an ordinary user outside of it, and capabilities there do not help.
if user unshare -U -r true 2>/dev/null; then
	user unshare -U -r ../precord -F 999 -o userns.trace -- ../shares plain 1 2>err.txt || { cat err.txt; fail "user namespace"; }
	records "user namespace" userns.trace
	if [ "$paranoid" -ge 1 ]; then
		user unshare -U -r ../precord -a -o no.trace --duration 0.1 2>err.txt
		refused "-a in a user namespace" $?
		grep -q 'do not count inside a user namespace' err.txt || { cat err.txt; fail "no word of the user namespace"; }
	fi
fi

# Refused altogether, by EPERM, EACCES (as a patched kernel at 3 does) and ENOSYS.
for errnum in 1 13 38; do
	user ../refuse $errnum ../precord -o no.trace -- true 2>err.txt
	status=$?
	[ $status = 77 ] && break
	refused "error $errnum" $status
	grep -Eq 'seccomp|sandbox' err.txt || { cat err.txt; fail "error $errnum: no word of the filter"; }
done

# 3 and 4: what a patched kernel refuses is said with the number; others record as at 2.
for level in 3 4; do
	echo $level >$sys/perf_event_paranoid 2>/dev/null && [ "$(cat $sys/perf_event_paranoid)" = $level ] || continue
	user ../precord -F 999 -o no.trace -- ../shares plain 1 2>err.txt
	status=$?
	grep -q "perf_event_paranoid is $level" err.txt || { cat err.txt; fail "paranoid $level is not named"; }
	if [ $status = 0 ]; then
		records "paranoid $level" no.trace
		rm no.trace
	else
		refused "paranoid $level" $status
	fi
done
echo "$paranoid" >$sys/perf_event_paranoid 2>/dev/null

# Hardly any memory for the rings: smaller ones, and what that may lose is said; none at all: refused with the remedy.
if echo 300 >$sys/perf_event_mlock_kb 2>/dev/null && [ "$(cat $sys/perf_event_mlock_kb)" = 300 ]; then
	(ulimit -l 0 && user ../precord -F 999 -m 16M -o mlock.trace -- ../shares plain 1) 2>err.txt
	status=$?
	if [ $status = 0 ]; then
		records "perf_event_mlock_kb 300" mlock.trace
		grep -q 'ring buffers of .* KiB instead of 16384 KiB' err.txt || { cat err.txt; fail "no word of the smaller rings"; }
	else
		mv mlock.trace no.trace 2>/dev/null
		refused "perf_event_mlock_kb 300" $status
	fi
	grep -q perf_event_mlock_kb err.txt || { cat err.txt; fail "perf_event_mlock_kb is not named"; }
	echo 4 >$sys/perf_event_mlock_kb
	(ulimit -l 0 && user ../precord -F 999 -o no.trace -- true) 2>err.txt
	refused "perf_event_mlock_kb 4" $?
	grep -q 'perf_event_mlock_kb.*ulimit -l' err.txt || { cat err.txt; fail "no remedy for want of memory"; }
fi
exit 0
