#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Of real programs (a C++ compiler, CPython, Node.js, Perl, a JVM without frame pointers), chains
# are the same with whole stacks and with pruned ones, with callers taken over from the last sample
# and without, with one thread and with several.
# slow: it records a mix of programs
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
tools=$BUILD/tests/tools compared=0 failed=0
threads='1 2 5'
[ -z "${SAN-}" ] || threads='1 3' # they are slow then

# A rule that reads what a number in a register leads to has it only in whole stacks; in the others a copy (Montgomery multiplication).
chains() { # chains TRACE: each sample's time, end and addresses
	preport -i "$1" script --no-inline --format json 2>/dev/null |
		sed -E 's/.*("time_ns": [0-9]+).*("stop": "[^"]*").*("frames": .*)/\1 \2 \3/
			s/ and a copy of a word that is not in the trace//g'
}

check() { # check NAME COMMAND...
	local name=$1 samples
	shift
	command -v "$1" >/dev/null || return 0
	precord -q --raw-stacks -e cpu-clock -F 499 -o raw.trace -- "$@" >log 2>&1 ||
		fail "$name: $(tail -n 1 log)"
	"$tools/prune_trace" raw.trace pruned.trace >log
	chains raw.trace >raw
	chains pruned.trace >pruned
	samples=$(wc -l <raw)
	if ! cmp -s raw pruned; then
		echo "FAIL $name: whole and pruned stacks give other chains"
		diff raw pruned | cut -c 1-600 | head -n 4
		failed=1
	fi
	for kind in raw pruned; do
		"$tools/unwind_bench" --check $kind.trace >log ||
			{ echo "FAIL $name: spliced"; cat log; failed=1; }
		for n in $threads; do
			preport -i $kind.trace folded --threads $n >$kind.$n 2>/dev/null
			cmp -s raw.1 $kind.$n ||
				{ echo "FAIL $name: $kind, $n threads"; failed=1; }
		done
	done
	echo "$name: $samples samples"
	[ "$samples" -lt 30 ] || compared=$((compared + 1))
}

echo '#include <regex>
int main(int c, char **v) { return std::regex_match(v[0], std::regex("a+")); }' >t.cpp
check cc1plus c++ -O2 -c t.cpp
check python3 python3 -c 'import ast, glob, json, re
for f in glob.glob(ast.__file__[:-6] + "*.py")[:25]:
    re.findall(r"(\w+)\((.*?)\)", json.dumps(ast.dump(ast.parse(open(f).read()))))'
check node node -e 'const m = new Map();
for (let i = 0; i < 400000; i++) m.set(i % 5000, JSON.stringify({ a: i, b: [i, i + 1] }));
require("zlib").gzipSync([...m.values()].sort().join());'
check perl perl -e 'for (1 .. 300000) { $h{$_ % 977} .= sprintf("%d,", $_ * 7) =~ s/1/x/r; }
print length(join("", sort { length($a) <=> length($b) } values %h));'
if command -v javac >/dev/null; then
	cat >Mix.java <<-'END'
	import java.util.*;
	public class Mix {
		static int depth(int n, Map<String, Integer> m) {
			return n == 0 ? m.merge("k", n, Integer::sum) : depth(n - 1, m) + 1;
		}
		public static void main(String[] a) {
			Map<String, Integer> m = new TreeMap<>();
			long s = 0;
			for (int i = 0; i < 700000; i++) {
				m.merge("k" + i % 107, i, Integer::sum);
				s += depth(i % 20, m);
			}
			System.out.println(m.size() + s);
		}
	}
	END
	javac Mix.java && check java java -cp . Mix
fi
[ $compared -gt 0 ] || skip 'none of the programs is here'
exit $failed
