#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debug information of relocatable files, kernel modules among them: lines and inlined calls are those that
# llvm-symbolizer finds once the file is linked, and a sample in a running module gets its lines from the file with the recorded build ID, wherever the kernel put its sections.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
for tool in llvm-symbolizer nm readelf ld "${CC:-cc}"; do
	command -v $tool >/dev/null || skip "there is no $tool"
done

cat >demo.c <<'CODE'
static inline __attribute__((always_inline)) int twice(int x)
{
	return x * 2 + 1;
}

__attribute__((noinline)) int demo_hot(int x)
{
	int y = twice(x);

	return y ^ x;
}

__attribute__((noinline, section(".text.unlikely"))) int demo_cold(int x)
{
	return twice(x) / 3;
}

__attribute__((section(".init.text"))) int demo_init(int x)
{
	return demo_hot(x) + demo_cold(x + 1);
}
CODE
# Ubuntu's compiler begins functions with endbr64, as kernels need not: the first bytes would be another line's.
plain=-fcf-protection=none
"${CC:-cc}" $plain -c -o plain.o demo.c 2>/dev/null || plain=
for version in 4 5; do
	"${CC:-cc}" -O2 $plain -gdwarf-$version -fno-pie -c demo.c -o demo-$version.o
	ld -r --build-id=sha1 demo-$version.o -o demo-$version.ko
done
"${CC:-cc}" -O2 -g -gz=zlib -c demo.c -o packed.o

# Link-time addresses are those that image.h gives: sections that are loaded, one behind the other from 0x10000 on.
functions() { # functions FILE: name, address and length of each, in decimal
	readelf -SsW "$1" | tr -d '[]' | awk '
		function hex(s, n, i) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		BEGIN { vaddr = 65536 }
		$1 + 0 > 0 && NF >= 10 && $8 ~ /A/ {
			align = $NF < 1 ? 1 : $NF
			base[$1] = vaddr = int((vaddr + align - 1) / align) * align
			vaddr += hex($6) }
		$4 == "FUNC" { print $8, base[$7] + hex($2), $3 + 0 }'
}

compared=0
for file in demo-4.o demo-5.o demo-4.ko demo-5.ko packed.o; do
	ld -e 0 -Ttext=0x400000 $file -o linked
	functions $file | sort >here
	[ "$(awk '$2 < 65536' here)" = "" ] && [ "$(wc -l <here)" = 3 ] || fail "$file: $(cat here)"
	while read -r name vaddr len; do
		there=$(nm linked | awk -v name="$name" '$3 == name { print $1 }')
		for offset in $(seq 0 $((len - 1))); do
			printf '%x\n' $((vaddr + offset)) >>ours.in
			printf '0x%x\n' $((0x$there + offset)) >>theirs.in
		done
	done <here
	"$BUILD/tests/tools/symbol_probe" "$PWD/$file" <ours.in >ours
	llvm-symbolizer -i --no-demangle --output-style=LLVM -e linked <theirs.in >theirs
	diff ours theirs | head -n 10
	cmp -s ours theirs || fail "$file: not as llvm-symbolizer says when it is linked"
	grep -q '^twice$' ours || fail "$file: no inlined calls"
	compared=$((compared + $(wc -l <ours.in)))
	rm ours.in theirs.in
done
echo "$compared addresses, all as llvm-symbolizer says when the file is linked"

# A kernel that loaded .text.unlikely far from .text, and forgot .init.text. The file is found by its name and build ID.
id=$(readelf -n demo-5.ko | sed -n 's/.*Build ID: //p')
folder=root/usr/lib/debug/lib/modules/6.1.0/kernel/drivers/demo
mkdir -p $folder
cp demo-5.ko $folder/de-mo.ko
value() { readelf -sW demo-5.ko | awk -v name="$1" '$8 == name { printf "%x", $3 }'; }
make_trace() { # make_trace BUILD-ID
	"$BUILD/tests/tools/write_trace" t.trace <<-END
		event cpu-clock ns 1000
		process 10 main
		module [de_mo] $1 ffffffffc0000000 1000
		ksym [de_mo] ffffffffc0000100 $(value demo_hot) demo_hot
		ksym [de_mo] ffffffffc0000900 $(value demo_cold) demo_cold
		ksample 0 10 10 0 1000000 30 ffffffffc0000101
		ksample 0 10 10 0 1000000 20 ffffffffc0000901
		ksample 0 10 10 0 1000000 10 ffffffffc0000500
	END
}
lines() { preport -i t.trace --by line --symfs root -n 0 --no-cache --format csv 2>err | columns line samples | sed "s|$PWD/||"; }
make_trace "$id"
lines >found
printf 'demo.c:3\t50\n' >expected
grep -v '^[?[]' found | diff expected - || fail "not the lines of the module: $(cat found err)"
preport -i t.trace --by leaf --symfs root -n 0 --no-cache --format csv 2>/dev/null | columns function samples >found
grep -q '^twice' found || fail "no inlined call in a module: $(cat found)"
preport info -i t.trace --symfs root 2>/dev/null | grep -q 'lines from root/.*/de-mo.ko' || fail 'info does not say where the lines are from'

# As distributions keep modules: compressed. One that stands for more than it may is left alone, and so is one that is cut.
for packer in 'xz .xz' 'zstd .zst' 'gzip .gz'; do
	set -- $packer
	command -v $1 >/dev/null || { echo "there is no $1"; continue; }
	rm -f $folder/*
	$1 -c demo-5.ko >$folder/de-mo.ko$2
	lines >found
	grep -v '^[?[]' found | diff expected - || fail "not the lines of the module with $1: $(cat found err)"
	{ cat demo-5.ko; head -c 60000000 /dev/zero; } | $1 -9 -c >$folder/de-mo.ko$2
	lines | grep -q 'demo.c' && fail "$1: 60 MB from $(stat -c %s $folder/de-mo.ko$2) bytes"
	$1 -c demo-5.ko | head -c 1000 >$folder/de-mo.ko$2
	lines | grep -q 'demo.c' && fail "$1: a file that is cut"
done
rm -f $folder/*
cp demo-5.ko $folder/de-mo.ko

make_trace "${id//[0-9]/a}"
lines | grep -q 'demo.c' && fail 'a module with another build ID was used'
exit 0
