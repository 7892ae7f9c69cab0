#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that were made to hold the recorder up, to kill it or to have it read what their owner may not: the trace is complete,
# says what was left out, and has everything else.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/two_libraries.bash"
need_recording
[ -z "${SAN-}" ] || skip "sanitizers do not let a library be preloaded"
$CC -O2 -fPIC -shared -o hold.so "$TOP/tests/programs/hold_mmap.c" -ldl || fail "cannot compile"

# A program whose time passes in two libraries.
build_two_libraries -Wl,-rpath,.

images() { preport -i "$1" info --format=csv 2>/dev/null | grep -c "$2"; }
complete() { # complete FILE WHEN: and what has a library that does no harm is embedded
	preport -i "$1" info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt err.txt; fail "$2: the file is not complete"; }
}
# Names come from the file alone: the libraries are not there when it is read.
names() { # names FILE FUNCTION
	mkdir -p away && mv lib*.so away
	preport -i "$1" --by leaf --limit 1000 --format=csv 2>/dev/null | columns function >names.txt
	mv away/lib*.so .
	grep -q "^$2\$" names.txt
}

precord -q -F 999 -o plain.trace -- ./main 2>err.txt || { cat err.txt; fail "plain: $?"; }
complete plain.trace plain
names plain.trace spin_one && names plain.trace spin_two || { cat names.txt; fail "plain: names are missing"; }

# One file never answers: it is left out alone.
HOLD_FILE=/libone.so LD_PRELOAD=$PWD/hold.so precord -F 999 --embed-time=4s -o held.trace -- env -u LD_PRELOAD ./main 2>err.txt || { cat err.txt; fail "held: $?"; }
complete held.trace held
grep -q "libone.so' is not embedded: reading it took too long" err.txt || { cat err.txt; fail "held: no word of it"; }
names held.trace spin_two || { cat names.txt err.txt; fail "held: the other library has no names"; }
names held.trace spin_one && fail "held: what was not read has names"
preport -i held.trace info | grep -q '^Note .*libone.so' || fail "held: the file does not say so"

# One file kills whoever reads it.
HOLD_DEADLY=1 HOLD_FILE=/libone.so LD_PRELOAD=$PWD/hold.so precord -F 999 -o deadly.trace -- env -u LD_PRELOAD ./main 2>err.txt || { cat err.txt; fail "deadly: $?"; }
complete deadly.trace deadly
grep -q "libone.so' is not embedded" err.txt || { cat err.txt; fail "deadly: no word of it"; }
names deadly.trace spin_two || { cat names.txt err.txt; fail "deadly: the other library has no names"; }

# An interrupt ends the waiting, however long the limit is.
HOLD_FILE=/libone.so LD_PRELOAD=$PWD/hold.so timeout 250 precord -F 999 --embed-time=1d -o int.trace -- env -u LD_PRELOAD sh -c './main; : >ran' 2>err.txt & job=$!
# Once its command has run, a child of the recorder is the one that reads.
until recorder=$(pgrep -P $job -x precord); do kill -0 $job || fail "interrupt: no recorder"; sleep 0.05; done
until [ -e ran ]; do kill -0 $job || fail "interrupt: no command"; sleep 0.05; done
until pgrep -P "$recorder" -x precord >/dev/null; do kill -0 $job || fail "interrupt: nothing was held"; sleep 0.05; done
kill -INT "$recorder"
wait $job
complete int.trace interrupt
grep -q 'not embedded' err.txt || { cat err.txt; fail "interrupt: no word of it"; }

# So few bytes that nothing can be read; a section that claims terabytes is more than all limits.
precord -F 999 --embed-size=1 -o few.trace -- ./main 2>err.txt || { cat err.txt; fail "few bytes: $?"; }
complete few.trace "few bytes"
grep -q 'not embedded: the limits are .*embed-size' err.txt || { cat err.txt; fail "few bytes: no word of them"; }
cp libone.so whole.so
cat >claim.py <<'END'
import struct, sys
data = bytearray(open("whole.so", "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
shentsize, shnum = struct.unpack_from("<HH", data, 58)
for i in range(shnum):
	at = shoff + i * shentsize
	if struct.unpack_from("<I", data, at + 4)[0] == 2: # .symtab
		struct.pack_into("<QQ", data, at + 24, 1 << 20, 1 << 42)
open("libone.so", "wb").write(data)
END
if python3 claim.py 2>/dev/null && truncate -s 5T libone.so 2>/dev/null; then
	precord -F 999 -o sparse.trace -- ./main 2>err.txt || { cat err.txt; fail "sparse: $?"; }
	complete sparse.trace sparse
	names sparse.trace spin_two || { cat names.txt err.txt; fail "sparse: the other library has no names"; }
	grep -q 'not embedded' err.txt || { cat err.txt; fail "sparse: no word of it"; }
fi
mv whole.so libone.so

# A file that claims nearly all that may be read takes nothing from the others, whichever comes first.
for liar in libone libtwo; do
	cp $liar.so whole.so
	sed "s/\"libone.so\"/\"$liar.so\"/; s/1 << 20, 1 << 42/1 << 20, (64 << 20) - (96 << 10)/" claim.py >claim_most.py
	python3 claim_most.py 2>/dev/null && truncate -s 70M $liar.so || { mv whole.so $liar.so; break; }
	precord -F 999 --embed-size=64M -o most.trace -- ./main 2>err.txt || { cat err.txt; fail "most: $?"; }
	complete most.trace most
	other=spin_two; [ $liar = libone ] || other=spin_one
	names most.trace $other || { cat names.txt err.txt; fail "most of all: the other library of $liar has no names"; }
	mv whole.so $liar.so
done

# A file of root's, or the kernel's log, mounted where a perf map would be.
[ "$(id -u)" = 0 ] || exit 0
cat >jit.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <stdio.h>
int main(void)
{
#ifdef __x86_64__
	static const unsigned char spin[] = { 0xb9, 0, 0, 0, 0x20, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
#else
	static const unsigned char spin[] = { 0, 0, 0xa4, 0xd2, 0, 4, 0, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 3, 0x5f, 0xd6 };
#endif
	void *code = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	memcpy(code, spin, sizeof(spin));
	__builtin___clear_cache(code, (char *)code + sizeof(spin));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	for (int i = 0; i < 4; i++)
		((void (*)(void))code)();
	return 0;
}
END
$CC -O1 -o jit jit.c || fail "cannot compile"
chmod 755 . && printf '10000000 1000 secret_of_root\n' >secret && chmod 600 secret
cat >mounted.sh <<'END'
: >/tmp/perf-$$.map && mount --bind "$1" /tmp/perf-$$.map && exec ./jit
exit 77
END
if setpriv --reuid=12345 --regid=12345 --clear-groups unshare -rm true 2>/dev/null; then
	precord -F 499 -o mounted.trace -- setpriv --reuid=12345 --regid=12345 --clear-groups unshare -rm sh mounted.sh "$PWD/secret" 2>err.txt
	status=$?
	[ $status = 0 ] || [ $status = 77 ] || { cat err.txt; fail "a mounted map: $status"; }
	preport -i mounted.trace --by leaf --format=csv 2>/dev/null | grep -q secret_of_root && fail "a file of root's is in the trace"
	[ $status = 77 ] || grep -q 'is not a regular file of its user' err.txt || { cat err.txt; fail "a mounted map: no word of it"; }
fi
trap 'rm -f "/tmp/perf-$(cat pid).map"' EXIT
# The same name in the plain way, which works, and left by an earlier process, which does not.
precord -q -F 499 -o plain.trace -- sh -c 'echo $$ >pid; printf "10000000 1000 made_here\n" >/tmp/perf-$$.map; exec ./jit' || fail "a plain map: $?"
rm -f "/tmp/perf-$(cat pid).map"
preport -i plain.trace --by leaf --format=csv 2>/dev/null | grep -q made_here || fail "a plain map is not read"
precord -F 499 -o stale.trace -- sh -c 'echo $$ >pid; printf "10000000 1000 made_before\n" >/tmp/perf-$$.map; touch -d 2001-01-01 /tmp/perf-$$.map; exec ./jit' 2>err.txt || fail "a stale map: $?"
preport -i stale.trace --by leaf --format=csv 2>/dev/null | grep -q made_before && fail "the map of an earlier process is used"
grep -q 'is older than the process' err.txt || { cat err.txt; fail "a stale map: no word of it"; }
exit 0
