#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pruning changes no chain: the samples of a recording with whole stacks, pruned afterwards by the same code, have the
# same frames, found in the same way, and end for the same reason.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
$CC -O2 -g -fomit-frame-pointer -o subject "$TOP/tests/e2e/unwind/subject.c" -lpthread || fail "cannot compile"

# Programs of all kinds, one after another; what this machine does not have is left out.
cat >work.sh <<'END'
for mode in recursive inlined signal; do ./shares $mode 1; done
for kind in plain alloca vla realigned signal fault altstack coroutine callback thread deep; do timeout 0.15 ./subject $kind; done
printf '#include <map>\n#include <string>\n#include <iostream>\nint main(int c, char **v) { std::map<std::string, int> m; m[v[0]] = c; std::cout << m.size(); }\n' >t.cpp
c++ -O2 -g -c t.cpp 2>/dev/null
python3 -c 'import re, json; [re.findall(r"(\d+), (\d+)", json.dumps(list(range(2000)))) for i in range(300)]' 2>/dev/null
seq 100000 | sort -r | gzip -9 >/dev/null
END

chains() { preport -i "$1" script --format=json >"$2" 2>script.err || { cat script.err; fail "$1 does not read"; }; }

# Of pruned stacks the frame pointer on another stack is not kept. Where C libraries have frame pointers, the kernel's chain goes on from it, and
# whole stacks say so; those that end there, and say so too, are left out of both.
without_other_stacks() { # without_other_stacks PRUNED FILE
	awk 'match($0, /"time_ns": [0-9]+/) { at = substr($0, RSTART, RLENGTH) } NR == FNR { if (/"stop": "another stack"/) ends[at] = 1; next } !(at in ends)' "$1" "$2"
}

for options in '' '-g dwarf,2048'; do
	precord -q -F 999 --raw-stacks $options -o raw.trace -- sh work.sh >/dev/null 2>err.txt || { cat err.txt; fail "precord $options"; }
	"$BUILD/tests/tools/prune_trace" raw.trace pruned.trace >kept.txt || fail "cannot prune $options"
	chains raw.trace raw.txt
	chains pruned.trace pruned.txt
	[ "$(wc -l <raw.txt)" -ge 300 ] || fail "only $(wc -l <raw.txt) samples"
	without_other_stacks pruned.txt raw.txt >raw.same
	without_other_stacks pruned.txt pruned.txt >pruned.same
	[ "$(wc -l <raw.same)" -ge $(($(wc -l <raw.txt) * 9 / 10)) ] || fail "with '$options' $(wc -l <raw.same) of $(wc -l <raw.txt) samples are left to compare"
	cmp -s raw.same pruned.same || {
		diff raw.same pruned.same | cut -c 1-3000 | head -n 12
		fail "with '$options' $(diff raw.same pruned.same | grep -c '^<') of $(wc -l <raw.txt) chains differ"
	}
	# Pruned it was.
	read -r after _ before _ <kept.txt
	[ "$after" -lt $((before * 3 / 4)) ] || fail "pruning kept $after of $before words"
done
exit 0
