#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains of aarch64 processes are gdb's, frame by frame: programs under emulation, stopped by gdb
# through the emulator, which hands out registers and stack; they are unwound here, on another kind
# of machine.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/gdb_dump.bash"
for tool in qemu-aarch64-static gdb-multiarch; do
	command -v $tool >/dev/null || skip "there is no $tool"
done
root=$FOREIGN/root
failed=0

# stop PROGRAM KIND [GDB-ARGUMENT...]: regs, stack, maps and gdb's chain of it where it waits, or
# where the arguments then bring it.
stop() {
	local program=$1 kind=$2
	shift 2
	[ $# -gt 0 ] || set -- -ex delete -ex 'stepi 3'
	rm -f socket
	qemu-aarch64-static -g "$PWD/socket" -E PADDING="$gdb_dump_padding" -L "$root" "./$program" "$kind" \
		>ready &
	local pid=$! i seen=1
	for i in {1..100}; do [ -S socket ] && break; sleep 0.1; done
	gdb_dump "$root" "$program" -ex 'target remote socket' -ex 'break wait_here' -ex continue \
		"$@" || seen=
	kill $pid 2>/dev/null || :
	wait $pid 2>/dev/null || :
	[ $seen ] || { cat gdb.log; fail "gdb could not stop '$program $kind'"; }
}

check() { # check PROGRAM KIND [GDB-ARGUMENT...]
	stop "$@"
	"$BUILD/tests/tools/unwind_probe" --dump aarch64 maps regs stack >probe
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' probe >ours
	if ! cmp -s ours chain || ! grep -q '^stop complete' probe; then
		echo "FAIL $1 $2"
		cat probe
		echo '--- gdb'
		cat chain maps
		failed=1
	fi
	echo "$1 $2: $(wc -l <chain) frames"
}

cc="aarch64-linux-gnu-gcc --sysroot=$root -w"
$cc -O2 -o O2 "$TOP/tests/e2e/unwind/subject.c" -lpthread
$cc -O0 -o O0 "$TOP/tests/e2e/unwind/subject.c" -lpthread
$cc -O2 -mbranch-protection=standard -o pac "$TOP/tests/e2e/unwind/subject.c" -lpthread
for kind in alloca vla realigned callback deep plain; do
	check O2 $kind
done
check O0 realigned

# A slot of the PLT, instruction by instruction: it has no unwind rows, and the return address in the
# link register.
$cc -O2 -no-pie -Wl,-z,lazy -o slots "$TOP/tests/e2e/unwind/subject.c" -lpthread
slot=$(aarch64-linux-gnu-objdump -d slots | sed -n 's/^0*\([0-9a-f]*\) <write@plt>:/\1/p')
for steps in 0 1 2 3; do
	check slots plain -ex "break *0x$slot" -ex continue -ex delete -ex "stepi $steps"
	[ "$(sed -n 1p chain)" = "$(printf '0x%016x' $((0x$slot + 4 * steps)))" ] ||
		fail "gdb did not stop in the slot"
	sed 1d chain >callers
done
# Then the head of all slots, which pushes two words: gdb does not know of them, so its callers in the slot are what is asked for.
for steps in 4 5 6 7 8; do
	stop slots plain -ex "break *0x$slot" -ex continue -ex delete -ex "stepi $steps"
	"$BUILD/tests/tools/unwind_probe" --dump aarch64 maps regs stack >probe
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' probe | sed 1d | cmp -s - callers && continue
	echo "FAIL $((steps - 4)) instructions into the head of the slots"
	cat probe callers
	failed=1
done

# Signed return addresses: gdb does not know from the emulator which bits are the signature, so the
# chain is that of the same program without.
stop O2 plain
plain=$(wc -l <chain)
stop pac plain
"$BUILD/tests/tools/unwind_probe" --dump aarch64 maps regs stack >probe
sed -n 2p chain | grep -q '^0x0000' && echo 'the addresses are not signed here'
if ! grep -q '^stop complete' probe || [ "$(grep -c ^0x "probe")" != "$plain" ]; then
	echo "FAIL signed return addresses: not $plain frames to the root"
	cat probe
	failed=1
fi
exit $failed
