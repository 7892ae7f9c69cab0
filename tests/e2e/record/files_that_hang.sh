#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A FUSE server that answers everybody but the recorder: a library that never answers.
# slow: the recording waits for such files as long as it may
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(id -u)" = 0 ] || skip "only root can mount a file system for sure"
$CC -O2 -o hold_fuse "$TOP/tests/programs/hold_fuse.c" 2>cc.err || skip "no linux/fuse.h: $(head -n 1 cc.err)"
$CC -O2 -o hold_cmdline "$TOP/tests/programs/hold_cmdline.c" || fail "cannot compile"
cat >spin.c <<'END2'
void SPIN(void);
void SPIN(void)
{
	for (volatile long i = 0; i < 20000000; i++)
		;
}
END2
cat >main.c <<'END2'
void spin_one(void);
void spin_two(void);
int main(void)
{
	for (int i = 0; i < 8; i++) {
		spin_one();
		spin_two();
	}
	return 0;
}
END2
for name in one two; do $CC -O1 -g -fPIC -shared -Wl,-soname,lib$name.so -DSPIN=spin_$name -o lib$name.so spin.c || fail "cannot compile"; done
$CC -O1 -g -o main main.c ./libone.so ./libtwo.so || fail "cannot compile"
mkdir -p held libs
mv libtwo.so libs
ln -s ../held/file libs/libone.so

mkfifo ready
./hold_fuse held libone.so >ready & server=$!
read -r word <ready
[ "$word" = ready ] || skip "a FUSE file system cannot be mounted here"
others=
# Whoever waits for the server goes on when it is gone.
trap 'kill $server $others 2>/dev/null; umount -l held 2>/dev/null' EXIT

ends() { # ends WHEN FILE ARGUMENTS...: the recording ends by itself, and its file is whole
	local when=$1 file=$2
	shift 2
	# A recorder that waits for the server cannot be killed; it goes on once the server is gone.
	(sleep 60 && kill $server) >/dev/null 2>&1 & local dog=$!
	precord -F 499 --embed-time=4s -o "$file" "$@" 2>err.txt
	local status=$?
	kill $dog 2>/dev/null
	kill -0 $server 2>/dev/null || fail "$when: the recording waited for it"
	[ $status = 0 ] || { cat err.txt; fail "$when: status $status"; }
	preport -i "$file" info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt err.txt; fail "$when: the file is not complete"; }
}
leaves() { preport -i "$1" --by leaf --limit 1000 --format=csv 2>/dev/null | columns function; }

ends "a library that hangs" library.trace -- env LD_LIBRARY_PATH=$PWD/libs ./main
grep -q "did not answer within" err.txt || { cat err.txt; fail "no word of the library that hangs"; }
grep -q '^Note .*did not answer' info.txt || { cat info.txt; fail "the file has no word of it"; }
leaves library.trace | grep -q '^spin_two$' || { cat err.txt; leaves library.trace; fail "the other library has no names"; }

exit 0
