#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A FUSE server that answers everybody but the recorder: a library that never answers.
# slow: the recording waits for such files as long as it may
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/two_libraries.bash"
need_recording
[ "$(id -u)" = 0 ] || skip "only root can mount a file system for sure"
$CC -O2 -o hold_fuse "$TOP/tests/programs/hold_fuse.c" 2>cc.err || skip "no linux/fuse.h: $(head -n 1 cc.err)"
build_two_libraries
mkdir -p held libs
mv libtwo.so libs
ln -s ../held/file libs/libone.so

mkfifo ready
./hold_fuse held libone.so >ready & server=$!
read -r word <ready
[ "$word" = ready ] || skip "a FUSE file system cannot be mounted here"
# Whoever waits for the server goes on when it is gone.
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; umount -l held 2>/dev/null' EXIT

ends() { # ends WHEN FILE ARGUMENTS...: the recording ends by itself, and its file is whole
	local when=$1 file=$2
	shift 2
	precord -F 499 --embed-time=4s -o "$file" "$@" 2>err.txt & local job=$!
	# A recorder that waits for the server cannot be killed; it goes on once the server is gone.
	for _ in $(seq 600); do
		case $(awk '{ print $3 }' /proc/$job/stat 2>/dev/null) in Z | '') break ;; esac
		sleep 0.1
	done
	case $(awk '{ print $3 }' /proc/$job/stat 2>/dev/null) in Z | '') ;; *) kill $server ;; esac
	wait $job
	local status=$?
	kill -0 $server 2>/dev/null || fail "$when: the recording waited for it"
	[ $status = 0 ] || { cat err.txt; fail "$when: status $status"; }
	preport -i "$file" info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt err.txt; fail "$when: the file is not complete"; }
}
leaves() { preport -i "$1" --by leaf --limit 1000 --format=csv 2>/dev/null | columns function; }

ends "a library that hangs" library.trace -- env LD_LIBRARY_PATH=$PWD/libs ./main
grep -q "did not answer within 100 ms: [1-9]" err.txt || { cat err.txt; fail "no word of the library that hangs"; }
grep -q '^Note .*did not answer' info.txt || { cat info.txt; fail "the file has no word of it"; }
leaves library.trace | grep -q '^spin_two$' || { cat err.txt; leaves library.trace; fail "the other library has no names"; }

exit 0
