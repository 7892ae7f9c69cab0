#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernel functions are shown from the trace alone, with objdump's instructions of the memory that the kernel runs them from.
# tests/guest/kernel_code.sh does the same on a kernel that is known; here it is whatever runs, and is patched by others meanwhile.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
for tool in python3 objdump; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip "the code is $(uname -m)'s" ;;
esac
[ -e /proc/kcore ] || skip 'this kernel has no /proc/kcore'
"$BUILD/tests/tools/dump_kcore" "$(sed -n 's/ T _stext$//p' /proc/kallsyms)" 16 >try.code 2>/dev/null && [ -s try.code ] ||
	skip '/proc/kcore cannot be read here'

record_and_dump() {
	local text end
	precord -q -e cpu-clock -F 1999 -o k.trace -- sh -c 'find /proc /sys -name x >/dev/null 2>&1; dd if=/dev/zero of=/dev/null bs=512 count=500000 2>/dev/null'
	text=$(sed -n 's/ T _stext$//p' /proc/kallsyms) end=$(sed -n 's/ T _etext$//p' /proc/kallsyms)
	rm -rf memory && mkdir memory
	"$BUILD/tests/tools/dump_kcore" "$text" $((0x$end - 0x$text)) >"memory/$text"
	preport -i k.trace info | grep '^Kernel code' >note || skip 'nothing was sampled in the kernel'
	grep -q 'functions\?, ' note || fail "/proc/kcore can be read, and yet: $(cat note)"
	preport -i k.trace annotate --hot 60 --format=csv >listing 2>/dev/null
	python3 "$TOP/tests/e2e/lib/kernel_code.py" listing memory "$(uname -m)" theirs ours >functions
	python3 "$TOP/tests/e2e/lib/same_instructions.py" "$(uname -m)" theirs ours >result || :
	awk 'END { exit $1 < 500 || $3 > $1 / 200 }' result
}
record_and_dump || record_and_dump || { cat functions result; fail 'instructions are not those of the kernel'; }
tail -n 1 result
