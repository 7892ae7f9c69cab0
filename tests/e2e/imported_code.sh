#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Addresses in other tools' profiles get the names, lines and inlined calls that the files here have, wherever the program was
# mapped and its code begins in the file; a file with another build ID is not used.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"

cat >main.c <<'C'
static inline int part(int n) { return n * n; }
__attribute__((noinline)) int work(int n) { return part(n) + 1; }
int main(int argc, char **argv) { return work(argc) + !argv; }
C
read -r main_line <<<"$(grep -n 'main(int' main.c | cut -d: -f1)"

# profile FILE BUILD-ID: three samples at main and two at work, as jemalloc and gperftools write addresses of a program.
profile() {
	local start=$((0x555555554000)) file=$1 offset end at_main at_work
	read -r offset vaddr len <<<"$(readelf -lW "$file" | awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')"
	end=$((start + offset + len))
	at_main=$((0x$(nm "$file" | awk '$3 == "main" { print $1 }') - vaddr + offset + start + 2))
	at_work=$((0x$(nm "$file" | awk '$3 == "work" { print $1 }') - vaddr + offset + start + 2))
	printf 'here profile: total 5\n3 @ 0x%x\n2 @ 0x%x 0x%x\nMAPPED_LIBRARIES:\n' "$at_main" "$at_work" "$at_main"
	printf '0x%x-0x%x: %s (@%x) %s\n' "$start" "$end" "$PWD/$file" 0 "$2"
}

build() { # build FILE OPTION...
	$CC -O2 -g -fPIE -pie -Wl,--build-id=0x0102030405060708 -o "$@" main.c || skip "this linker takes no --build-id=0x..."
}

# The code where the linker puts it, and at an address that is not its place in the file.
build plain
build moved -Wl,-Ttext-segment=0x400000 || true
for file in plain moved; do
	profile "$file" 0102030405060708 >"$file.prof"
	preport -i "$file.prof" --format csv >"$file.csv"
	grep -q '^here,0.6.*,main,' "$file.csv" && grep -q '^here,0.4.*,part,' "$file.csv" || fail "$file: a name is missing: $(cat "$file.csv")"
	preport -i "$file.prof" --by line --format csv | grep -q "main.c:$main_line" || fail "$file: main has no line"
	profile "$file" ffff030405060708 >other.prof
	preport -i other.prof --format csv >other.csv
	! grep -q ',main,' other.csv || fail "$file: a file with another build ID was used"
done
preport -i plain.prof pprof -o plain.pb.gz
preport -i plain.pb.gz --by total --format csv | grep -q ',work,' || fail "names are not kept in pprof"
