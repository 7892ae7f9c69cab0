#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Instructions are those of objdump: 10,000 of a C library for each architecture whose objdump and library are here, and
# every difference in how they are written has an explanation (lib/same_instructions.py).
set -eu
skip() { echo "$1"; exit 77; }
command -v python3 >/dev/null || skip 'python3 is not installed'

compared=0
compare() { # compare ARCH OBJDUMP FILE
	[ -e "$3" ] && command -v "$2" >/dev/null || { echo "$1: no $2 or no $3 here"; return; }
	LC_ALL=C "$2" -dw "$3" 2>/dev/null | grep -P '^ +[0-9a-f]+:\t' >all
	step=$(($(wc -l <all) / 10000))
	[ "$step" -gt 0 ] || { echo "$1: too little code in $3"; return; }
	awk -v step="$step" 'NR % step == 0 && n++ < 10000' all >theirs
	sed -E 's/^ *([0-9a-f]+):.*/\1/' theirs | "$BUILD/tests/tools/disasm_probe" "$3" att >ours
	python3 "$TOP/tests/e2e/lib/same_instructions.py" "$1" theirs ours >result || { cat result; echo "FAILED: $1"; exit 1; }
	sed "s/^/$1: /" result
	compared=$((compared + 1))
}

libc() { # libc ARCH: where it is, natively or for cross compilers
	ls "/usr/lib/$1-linux-gnu/libc.so.6" "/usr/$1-linux-gnu/lib/libc.so.6" /lib64/libc.so.6 2>/dev/null | head -n 1
}

host=$(uname -m)
for arch in x86_64 aarch64; do
	objdump=$arch-linux-gnu-objdump
	[ "$arch" != "$host" ] || objdump=objdump
	file=$(libc $arch)
	[ "$arch" = "$host" ] || [ "$file" != /lib64/libc.so.6 ] || file=
	compare $arch $objdump "$file"
done
[ $compared -gt 0 ] || skip 'there is no objdump, or no library that it knows'
