#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains of aarch64 processes are gdb's, frame by frame: programs under emulation, stopped by gdb through the
# emulator, which hands out registers and stack; they are unwound here, on another kind of machine.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
for tool in qemu-aarch64-static gdb-multiarch; do
	command -v $tool >/dev/null || skip "there is no $tool"
done
root=$FOREIGN/root
failed=0

# map_of FILE ADDRESS-OF-.text: the executable segment of FILE as a line of /proc/PID/maps.
map_of() {
	local text bias start offset len
	text=$(aarch64-linux-gnu-readelf -SW "$1" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) .*/\1/p')
	bias=$(($2 - 0x$text))
	aarch64-linux-gnu-readelf -lW "$1" | awk '$1 == "LOAD" && $7 $8 ~ /E/ { print $2, $3, $5 }' | while read -r offset start len; do
		printf '%x-%x r-xp %x 00:00 1 %s\n' $((bias + (start & ~0xfff))) $((bias + ((start + len + 0xfff) & ~0xfff))) \
			$((offset & ~0xfff)) "$1"
	done
}

# stop PROGRAM KIND: regs, stack, maps and gdb's chain of it where it waits.
stop() {
	rm -f socket stack regs
	qemu-aarch64-static -g "$PWD/socket" -E PADDING="$(printf '%040000d' 0)" -L "$root" "./$1" "$2" >ready &
	local pid=$! i
	for i in {1..100}; do [ -S socket ] && break; sleep 0.1; done
	timeout 120 gdb-multiarch -q -nx -batch -ex "set sysroot $root" -iex 'set debug-file-directory /nonexistent' \
		-ex "file $1" -ex 'target remote socket' -ex 'break wait_here' -ex continue -ex 'delete' -ex 'stepi 3' \
		-ex 'set backtrace past-main on' -ex 'echo \nCHAIN\n' \
		-ex 'frame apply 1024 -q printf "0x%016lx\n", (unsigned long)$pc' -ex 'echo \nFILES\n' -ex 'info files' \
		-ex "dump binary memory stack \$sp \$sp+32768" \
		-ex 'printf "\nREGS\n"' -ex 'info registers x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp pc' \
		-ex kill >gdb.log 2>&1 || :
	kill $pid 2>/dev/null || :
	wait $pid 2>/dev/null || :
	sed -n '/^CHAIN/,/^FILES/s/^0x/0x/p' gdb.log >gdb
	sed -n '/^REGS/,$s/^\(x[0-9]*\|sp\|pc\) *\(0x[0-9a-f]*\).*/\2/p' gdb.log >regs
	: >maps
	map_of "$PWD/$1" "$(sed -n 's/^\t\(0x[0-9a-f]*\) - 0x[0-9a-f]* is \.text$/\1/p' gdb.log | head -n 1)" >>maps
	sed -n 's/^\t\(0x[0-9a-f]*\) - 0x[0-9a-f]* is \.text in \(.*\)$/\1 \2/p' gdb.log | while read -r address file; do
		map_of "$file" "$address"
	done >>maps
	[ -s gdb ] && [ -s stack ] && [ "$(wc -l <regs)" = 33 ] || { cat gdb.log; fail "gdb could not stop '$1 $2'"; }
}

check() { # check PROGRAM KIND
	stop "$1" "$2"
	"$BUILD/tests/tools/unwind_probe" --dump aarch64 maps regs stack >probe
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' probe >ours
	if ! cmp -s ours gdb || ! grep -q '^stop complete' probe; then
		echo "FAIL $1 $2"
		cat probe
		echo '--- gdb'
		cat gdb maps
		failed=1
	fi
	echo "$1 $2: $(wc -l <gdb) frames"
}

cc="aarch64-linux-gnu-gcc --sysroot=$root -w"
$cc -O2 -o O2 "$TOP/tests/e2e/unwind/subject.c" -lpthread
$cc -O0 -o O0 "$TOP/tests/e2e/unwind/subject.c" -lpthread
$cc -O2 -mbranch-protection=standard -o pac "$TOP/tests/e2e/unwind/subject.c" -lpthread
for kind in alloca vla realigned callback deep plain; do
	check O2 $kind
done
check O0 realigned

# Signed return addresses: gdb does not know from the emulator which bits are the signature, so the chain is
# that of the same program without.
stop O2 plain
plain=$(wc -l <gdb)
stop pac plain
"$BUILD/tests/tools/unwind_probe" --dump aarch64 maps regs stack >probe
sed -n 2p gdb | grep -q '^0x0000' && echo 'the addresses are not signed here'
if ! grep -q '^stop complete' probe || [ "$(grep -c ^0x "probe")" != "$plain" ]; then
	echo "FAIL signed return addresses: not $plain frames to the root"
	cat probe
	failed=1
fi
exit $failed
