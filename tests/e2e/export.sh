#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The files of preport export are opened by the tools that they are for, and every function has the weight there that it
# has in preport's table: a recording of threads, kernel, inlined and JIT code with two events, and one with hostile names.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
leaves=$TOP/tests/e2e/export/leaves
write_trace=$BUILD/tests/tools/write_trace
command -v python3 >/dev/null || skip "python3 is not installed"

cat >threads.cc <<'CODE'
#include <algorithm>
#include <sys/mman.h>
#include <thread>
#include <vector>
static long inner(const std::vector<int> &v) { return std::count_if(v.begin(), v.end(), [](int x) { return x % 3 == 0; }); }
static long recursion(int n) { return n < 2 ? n : recursion(n - 1) + recursion(n - 2); }
static void touch() { void *p = mmap(0, 1 << 22, 3, 34, -1, 0); for (int i = 0; i < 1 << 22; i += 4096) ((volatile char *)p)[i] = 1; munmap(p, 1 << 22); }
int main() {
	std::vector<std::thread> all;
	volatile long sum = 0;
	for (int t = 0; t < 3; t++)
		all.emplace_back([&, t] { std::vector<int> v(100000); for (int i = 0; i < 150; i++) { std::generate(v.begin(), v.end(), rand); std::sort(v.begin(), v.end()); sum += inner(v) + recursion(15 + t); touch(); } });
	for (auto &t : all) t.join();
}
CODE
c++ -O2 -g -pthread -o threads threads.cc 2>/dev/null || skip "no C++ compiler is installed"
cat >busy.sh <<'CODE'
./threads
! command -v node >/dev/null || node --perf-basic-prof -e 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } fib(27)'
CODE
$write_trace hostile.trace <"$TOP/tests/data/report/hostile.txt"
need_recording
precord -q -e cpu-clock -e page-faults -F 499 -o real.trace -- sh busy.sh

for trace in real hostile; do
	events=cpu-clock
	[ $trace = hostile ] || events='cpu-clock page-faults'
	for event in $events; do
		preport -i $trace.trace --by leaf --event $event --limit 0 --format=csv 2>/dev/null
	done >$trace.csv
	[ "$(wc -l <$trace.csv)" -gt 3 ] || fail "$trace.trace has hardly any function"
	for format in firefox speedscope chrome callgrind perf-script; do
		preport -i $trace.trace export --to $format -o $trace.$format 2>$trace.$format.err
		grep -q "a $format file holds no" $trace.$format.err || fail "$format does not say what it cannot hold"
		[ $format = callgrind ] || "$leaves" $format $trace.$format $trace.csv
	done
	if command -v callgrind_annotate >/dev/null; then
		for event in $events; do
			callgrind_annotate --threshold=100 --show=${event//-/_} --sort=${event//-/_} $trace.callgrind
		done >$trace.annotated 2>$trace.warnings
		[ ! -s $trace.warnings ] || fail "callgrind_annotate: $(cat $trace.warnings)"
		"$leaves" callgrind $trace.annotated $trace.csv
	fi
	if command -v inferno-collapse-perf >/dev/null; then
		ours=$(preport -i $trace.trace folded --event cpu-clock | awk '{ s += $NF } END { printf "%.0f", s }')
		theirs=$(inferno-collapse-perf --event-filter cpu-clock $trace.perf-script 2>inferno.err | awk '{ s += $NF } END { printf "%.0f", s }')
		! grep Weird inferno.err || fail "inferno cannot read a line"
		[ "$ours" = "$theirs" ] || fail "inferno adds up to $theirs, folded to $ours"
	fi
done
# Several threads, inlined calls and kernel code are really there.
grep -q '(inlined)' real.perf-script || fail "nothing is inlined"
grep -q '(\[kernel\])' real.perf-script || echo "no kernel code: it may not be recorded here"
[ "$(grep -c '^threads ' real.perf-script)" -gt 10 ] || fail "the threads are not there"

# Compressed files are the same inside; those that no tool reads are refused.
preport -i real.trace export --to speedscope -o packed.json.gz 2>/dev/null
zcat packed.json.gz | cmp - real.speedscope || fail "compressed, it is another file"

command -v node >/dev/null || skip "node is not installed: no importer of JavaScript has seen the files"
viewer=$(go env GOROOT 2>/dev/null || :)/src/internal/trace/traceviewer/static/trace_viewer_full.html
if [ -e "$viewer" ]; then
	for trace in real hostile; do
		node "$TOP/tests/web/trace_viewer.mjs" "$viewer" $trace.chrome >$trace.viewed
		"$leaves" sums $trace.viewed $trace.csv
	done
else
	echo "Go's trace viewer is not here"
fi
if "$TOP/tests/web/packages" @firefox-devtools/profiler-cli@0.10.0; then
	for trace in real hostile; do
		node "$TOP/tests/web/firefox.mjs" $trace.firefox cpu-clock page-faults >$trace.imported
		"$leaves" firefox-importer $trace.imported $trace.csv
	done
else
	echo "Firefox Profiler's importer cannot be had from npm"
fi
export CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$CHROMIUM" ] || skip "chromium is not installed: speedscope has not seen the files"
"$TOP/tests/web/packages" speedscope@1.25.0 || skip "speedscope cannot be had from npm"
for trace in real hostile; do
	node "$TOP/tests/web/speedscope.mjs" "$PWD/$trace.speedscope" >$trace.sums
	"$leaves" sums $trace.sums $trace.csv
done
# With other tools' files it has ways of its own (times for weights, the first event alone): that it opens them is what is asked.
for format in chrome perf-script callgrind; do
	node "$TOP/tests/web/speedscope.mjs" "$PWD/real.$format" >real.sums
	found='":[0-9]' # a function's weight
	[ $format != callgrind ] || found='"cpu_clock":{.*"page_faults":{' # it spreads costs from a function without callers, if there is one
	grep -q "$found" real.sums || fail "speedscope finds nothing in the $format file"
done
