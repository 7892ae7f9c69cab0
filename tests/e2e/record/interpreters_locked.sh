#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Python program whose memory is locked (mmap lock) for as long as a FUSE server likes: the stacks of another one on the same CPU are still read,
# precord says which it left alone, and exits while the lock is held.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ -z "${SAN:-}" ] || skip "LeakSanitizer stops all threads, and one that waits for the lock cannot be stopped"
[ "$(id -u)" = 0 ] || skip "only root can mount a file system for sure"
[ "$(uname -m)" = x86_64 ] || skip "the program is written for x86-64"
need_interpreters
python=$(python3 -c 'import ctypes, sys; print(sys.executable)') || skip "there is no python3 with ctypes"
$CC -O2 -o hold_fuse "$TOP/tests/programs/hold_fuse.c" 2>cc.err || skip "no linux/fuse.h: $(head -n 1 cc.err)"

# Waits for a page of the file with the process's lock held, since the server does not answer who is called so.
cat >touch.c <<'END_C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char path[64], byte;
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[argc - 2]);
	int fd = open(path, O_RDONLY);
	return fd < 0 || pread(fd, &byte, 1, (off_t)strtoull(argv[argc - 1], NULL, 10)) != 1;
}
END_C
$CC -o precord_touches touch.c || fail "cannot compile"
cat >other.py <<'END_PY'
while True:
    n = 0
    for i in range(10000):
        n += i
END_PY

wait_for() { # wait_for FILE: until something is in it
	for _ in $(seq 200); do
		[ ! -s "$1" ] || return 0
		sleep 0.05
	done
	skip "there is no $1 after 10 s"
}

head -c 4096 /dev/zero >zeros
mkdir held
mkfifo ready
./hold_fuse held zeros pages >ready & server=$!
read -r word <ready
[ "$word" = ready ] || skip "a FUSE file system cannot be mounted here"
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
taskset -c "$cpu" "$python" "$TOP/tests/programs/locked.py" held/pages 60 & locked=$!
taskset -c "$cpu" "$python" other.py & other=$!
job='' toucher=''
trap 'kill $server $locked $other $toucher $job 2>/dev/null; wait 2>/dev/null; umount -l held 2>/dev/null' EXIT
wait_for address
./precord_touches $locked "$(cat address)" & toucher=$!
precord -v -e cpu-clock -F 499 -p $locked,$other -o l.trace 2>precord.txt & job=$!
begun $job l.trace
burn 60 $locked
touch go
wait_for locked
burn 80 $locked
burn 80 $other
kill -INT $job
# A recorder that waits for the lock cannot be killed: it goes on once the server is gone.
has_ended() { [ ! -e /proc/"$1" ] || grep -qs '^State:.*Z' /proc/"$1"/status && ! grep -qs '^Threads:.*[2-9]' /proc/"$1"/status; }
for _ in $(seq 200); do
	has_ended $job && break
	sleep 0.1
done
has_ended $job || fail "the recorder waits for the lock"
wait $job || { cat precord.txt; fail "status $?"; }

# Stacks that were read of both since the lock; what reads the first one may hold the lock for a moment.
preport script --all --no-chain --format=json -i l.trace >l.json 2>/dev/null || fail "the trace cannot be read"
read -r before of_locked of_other < <("$python" -c '
import json, sys
since = int(open("locked").read())
before = 0
counts = dict.fromkeys(sys.argv[1:], 0)
for event in map(json.loads, open("l.json")):
    if event["kind"] == "managed" and event["state"] == "whole":
        before += event["time_ns"] < since
        counts[str(event["pid"])] += event["time_ns"] > since + 100000000
print(before, *counts.values())' $locked $other)
echo "$before before; $of_locked of the locked one, $of_other of the other"
[ "$before" -gt 0 ] || few_stacks precord.txt
grep interpreters: precord.txt
grep -q "its memory was locked" precord.txt || { cat precord.txt; fail "nothing is said of the lock"; }
[ "$of_other" -gt 0 ] || fail "no stack of the other program was read since"
[ "$of_locked" -eq 0 ] || fail "the memory was not locked"
exit 0
