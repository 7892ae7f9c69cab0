#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose unwind table is damaged, as by a bad disk or a tool that edited it, is reported with one
# warning that says so. Its frames are found by what its code does to the stack: none is left out, whatever the
# frame pointer holds (some C libraries have one, and it leads past all of the program). So it is whether the trace
# brings what the recorder read or the reader looks at the file.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v objcopy >/dev/null || skip 'there is no objcopy'
need_recording

cat >deep.c <<'END'
static volatile unsigned long sum;
__attribute__((noinline)) static void leaf(unsigned long n) { while (n--) sum += n * sum; }
__attribute__((noinline)) static void middle(unsigned long n) { leaf(n); sum++; }
__attribute__((noinline)) static void outer(unsigned long n) { middle(n); sum++; }
int main(void) { for (int i = 0; i < 100; i++) outer(1000000); return 0; }
END
$CC -O2 -fomit-frame-pointer -fno-ipa-cp -Wl,--build-id deep.c -o sound
objcopy -O binary --only-section=.eh_frame --set-section-flags .eh_frame=alloc sound table
len=$(wc -c <table)
head -c "$len" /dev/zero >zeros
{ head -c $((len / 3)) table; head -c "$len" /dev/zero | tr '\0' '\245'; } | head -c "$len" >cut
for how in zeros cut; do
	objcopy --update-section .eh_frame=$how sound $how.program 2>objcopy.err ||
		skip "this objcopy cannot replace a section: $(head -n 1 objcopy.err)"
	chmod +x $how.program
done

check() { # check TRACE PROGRAM [OPTION...]
	preport -i "$1" "${@:3}" info --no-cache >info 2>warnings
	[ "$(grep -c "/$2' is damaged: .*\.eh_frame" warnings)" = 1 ] || fail "$1: $(cat warnings)"
	preport -i "$1" --by leaf --no-cache >leaves 2>warnings
	grep -q leaf leaves || fail "$1: $(cat leaves)"
	[ "$(grep -c "/$2' is damaged" warnings)" = 1 ] || fail "$1 --by leaf: $(cat warnings)"
	[ "$(uname -m)" = x86_64 ] || return 0 # code is followed there
	preport -i "$1" folded --no-cache 2>/dev/null | grep leaf >folded
	! grep -v ';main;outer;middle;leaf[; ]' folded || fail "$1: frames are left out"
}

for how in zeros cut; do
	for bundle in symbols none; do
		precord -q --bundle $bundle -o $how.$bundle.trace -- ./$how.program
		check $how.$bundle.trace $how.program
	done
done

precord -q -o sound.trace -- ./sound
preport -i sound.trace info --no-cache 2>&1 | { ! grep -E 'damaged|bad unwind table'; } || fail 'of a sound program'
