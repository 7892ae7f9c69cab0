#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The instructions that samples fell on, in a compiler at work, are those of objdump, as AT&T and Intel write
# them, and differences in how they are written have an explanation (lib/same_instructions.py). Which instructions a CPU
# and a moment bring is chance: one in 500 may be of a kind that nobody has met. same_instructions.sh allows for none.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
for tool in python3 objdump c++; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done

cat >a.cc <<'END'
#include <iostream>
#include <map>
#include <regex>
int main(int, char **v)
{
	std::map<std::string, int> m;
	return std::regex_match(v[0], std::regex("a*")) + m[v[0]];
}
END
compiler=$(command -v c++ | sed 's,.*/ccache/.*,,')
precord -q -F 2999 -e cpu-clock:u -g none -o c.trace -- \
	sh -c "for level in 0 2; do ${compiler:-/usr/bin/c++} -O\$level -c a.cc; done"
preport -i c.trace --by address --limit 0 --format=csv >addresses.csv 2>/dev/null
preport -i c.trace script --all --no-chain 2>/dev/null | grep -o "/[^ ]*$" | sort -u >paths
"$TOP/tests/e2e/lib/sampled_code.py" addresses.csv paths code >offsets
[ "$(wc -l <offsets)" -gt 500 ] ||
	fail "only $(wc -l <offsets) sampled instructions were found"

base=400000
printf '.globl _start\n.text\n_start: .incbin "code"\n' >code.s
"$CC" -nostdlib -static -no-pie -Wl,-Ttext=0x$base -Wl,--build-id=none -o code.elf code.s
python3 -c "for line in open('offsets'): print(f'{0x$base + int(line, 16):x}')" >addresses
for syntax in att intel; do
	LC_ALL=C objdump -dw -M "$syntax" code.elf | grep -P '^ +[0-9a-f]+:\t' |
		awk 'NR == FNR { wanted[$1 ":"] = 1; next } $1 in wanted' addresses - >theirs
	"$BUILD/tests/tools/disasm_probe" code.elf $syntax <addresses >ours
	[ "$(wc -l <theirs)" = "$(wc -l <ours)" ] ||
		fail "$syntax: objdump has $(wc -l <theirs) of them, we $(wc -l <ours)"
	arch=x86_64
	[ $syntax = att ] || arch=x86_64-intel
	python3 "$TOP/tests/e2e/lib/same_instructions.py" $arch theirs ours >result ||
		awk 'END { exit !($1 > 500 && $3 * 500 <= $1) }' result || { cat result; fail "$syntax"; }
	sed "s/^/$syntax: /" result
done
