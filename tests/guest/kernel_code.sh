#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code of the running kernel, a module and a BPF program travels: instructions are objdump's of the kernel's memory, the
# file of the kernel differs where it was patched, and where code cannot be had the trace says why.
set -eu
GUEST_ARCH=x86_64 . "$TOP/tests/guest/lib/guest.bash"
for tool in python3 objdump; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
need_kernel "${GUEST_KERNEL:-6.12}"
add_program "$BUILD/precord" "$BUILD/tests/tools/dump_kcore"
build_program bpf
# The outer recording keeps the kernel patched as it is until its memory is dumped.
run_guest --icount --kaslr <<'EOF' || { cat console out/*.err; fail 'the guest cannot record'; }
for module in virtio virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
	insmod /modules/$module.ko 2>/dev/null || :
done
cat >work <<'WORK'
find /proc -name x >/dev/null
dd if=/dev/vda of=/dev/null bs=512 count=3000 2>/dev/null
bpf 20000 1000 >/dev/null & # it stays loaded
sleep 0.3
WORK
cat >inner <<'INNER'
precord -q -a -F 1997 -o /out/k.trace -- sh work
mkdir /out/memory
text=$(sed -n 's/ T _stext$//p' /proc/kallsyms) end=$(sed -n 's/ T _etext$//p' /proc/kallsyms)
dump_kcore $text $((0x$end - 0x$text)) >/out/memory/$text
sed 's/\([^ ]*\) \([^ ]*\) .*0x\([0-9a-f]*\).*/\3 \2/' /proc/modules | while read at len; do
	dump_kcore $at $len >/out/memory/$at || rm /out/memory/$at
done
sed -n 's/ t bpf_prog_.*spin.*//p' /proc/kallsyms | while read at; do dump_kcore $at 3000 >/out/memory/$at; done
INNER
precord -q -F 1 -e cpu-clock -o /tmp/outer.trace -- sh inner 2>/out/inner.err
precord -q -F 997 --bundle=none -o /out/none.trace -- find /proc -name x
precord -q -F 997 -e cpu-clock:u -o /out/user.trace -- find /proc -name x
mount -o bind /dev/null /proc/kcore
precord -q -F 997 -o /out/covered.trace -- find /proc -name x
uname -r >/out/release
EOF
echo "Linux $(cat out/release), x86-64"

same_instructions() { # same_instructions TRACE: those of its 100 hottest functions are objdump's
	preport -i "$1" annotate --hot 100 --format=csv >listing 2>/dev/null
	python3 "$TOP/tests/e2e/lib/kernel_code.py" listing out/memory x86_64 theirs ours >functions
	# The disassembler library of Debian 12 does not know "serialize".
	awk '{ all += $(NF - 1); out += $NF } END { exit out > all / 500 }' functions ||
		{ cat functions; fail 'instructions are shown as bytes'; }
	python3 "$TOP/tests/e2e/lib/same_instructions.py" x86_64 theirs ours >result || { cat result; fail 'instructions'; }
	tail -n 1 result
}
same_instructions out/k.trace
echo "$(wc -l <functions) functions, $(grep -c '\[virtio_' functions) of modules"
grep -q '^bpf_prog_.*spin.* \[bpf\] 40[0-9] 0$' functions || { cat functions; fail 'the BPF program has no code, or not all of it'; }

# The kernel's file, as the boot loader unpacks it: what differs was patched, not only moved by KASLR.
python3 "$TOP/tests/guest/lib/unpack_kernel.py" "$KERNEL/vmlinuz" vmlinux || fail 'vmlinuz holds no kernel that is known'
id=$(readelf -nW vmlinux | sed -n 's/.*Build ID: //p' | head -n 1)
mkdir -p "debug/.build-id/${id%"${id#??}"}"
cp vmlinux "debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
preport -i out/k.trace annotate --hot 100 --debug-dir debug >patched 2>/dev/null
grep -q '^code as it was .* instructions differ from' patched && grep -q '^code as it was .*; the same as in' patched ||
	{ grep '^code ' patched; fail 'nothing is said of how the file differs'; }
preport -i out/none.trace annotate --hot 1000 --debug-dir debug 2>/dev/null | grep -q '^code from .*the running kernel had patched' ||
	fail 'without code in the trace, that of the file is not shown'

says() { # says WORDS TRACE
	preport -i "out/$2.trace" info | grep '^Kernel code' | grep -qF -- "$1" ||
		{ preport -i "out/$2.trace" info; fail "$2: '$1' is not said"; }
}
says 'functions, ' k
says 'not embedded: it was recorded with --bundle=none' none
says 'not embedded: /proc/kcore was covered' covered
preport -i out/user.trace info | grep '^Kernel code' && fail 'a recording of user code has kernel code'
preport -i out/k.trace info --sizes | grep -q '^modules .*kernel code ' || fail 'its bytes are not listed'
hot=$(preport -i out/covered.trace --by leaf --limit 0 --format=csv 2>/dev/null | columns function module | awk -F'\t' '$2 == "[kernel]" { print $1; exit }')
preport -i out/covered.trace annotate "$hot" >missing 2>&1 && fail 'code that is not there is shown'
grep -q 'record on the host' missing || { cat missing; fail 'nothing is said of what would help'; }
