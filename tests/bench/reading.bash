# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The part of the benchmark that is about reading: sourced by run, with $dir/report.trace and $dir/report.data of the same load.
#
# perf script with inlined calls takes minutes, so it gets a tenth of a second of the recording, and its time is scaled by samples.
# BENCH_DEBUG=FILE: a binary with large debug information (default: the largest below /usr/lib/debug of 100 MB or more).

reading_inlined() {
	local first count all
	first=$(perf script -i "$dir/report.data" --no-inline -F time 2>/dev/null | sed -n '/[0-9]:/{s/[: ]//gp;q}')
	[ -n "$first" ] || return
	perf script -i "$dir/report.data" --no-inline -F time 2>/dev/null | grep -c '[0-9]:' >"$dir/all"
	all=$(cat "$dir/all")
	local until
	until=$(awk -v t="$first" 'BEGIN { printf "%.6f", t + 0.1 }')
	count=$(perf script -i "$dir/report.data" --no-inline -F time --time "$first,$until" 2>/dev/null | grep -c '[0-9]:')
	[ "$count" -gt 0 ] || return
	cpu perfpart timeout 600 perf script -i "$dir/report.data" --time "$first,$until"
	cpu leaf "$preport" -i "$dir/report.trace" --by leaf --no-cache
	local a b
	a=$(median "$dir/leaf.wall")
	b=$(awk -v t="$(median "$dir/perfpart.wall")" -v n="$count" -v all="$all" 'BEGIN { print t * all / n }')
	row "with inlined calls, wall s" "$a" "$b" "" "$(ratio "$b" "$a") times faster (bar 1000); perf: $count of $all samples, scaled"
}

# threads_row NAME TRACE
threads_row() {
	for _ in $(seq "$rounds"); do
		cpu one "$preport" -i "$2" --by leaf --no-cache --threads 1
		cpu two "$preport" -i "$2" --by leaf --no-cache --threads 2
	done
	row "$1, wall s" "$(median "$dir/one.wall")" "$(median "$dir/two.wall")" "" \
		"$(ratio "$(median "$dir/one.wall")" "$(median "$dir/two.wall")") times faster (bar 1.7; load $(cut -d' ' -f1 /proc/loadavg))"
	row "$1, CPU s" "$(median "$dir/one.cpu")" "$(median "$dir/two.cpu")" "" ""
	rm -f "$dir"/one.* "$dir"/two.*
}

reading_threads() {
	local tool=$BUILD/tests/tools/multiply_trace
	threads_row "threads 1 and 2" "$dir/report.trace"
	[ -x "$tool" ] && "$tool" --rounds 10 "$dir/report.trace" "$dir/longer.trace" || return
	threads_row "the same, 10 times as long" "$dir/longer.trace"
	rm -f "$dir/longer.trace"
}

peak() { python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"; }

reading_memory() {
	local tool=$BUILD/tests/tools/multiply_trace
	[ -x "$tool" ] && command -v python3 >/dev/null || return
	"$tool" --each 100 "$dir/report.trace" "$dir/each.trace" && "$tool" --rounds 20 "$dir/report.trace" "$dir/rounds.trace" || return
	row "memory, MiB" "$(peak "$preport" -i "$dir/report.trace" --by leaf --no-cache)" \
		"$(peak "$preport" -i "$dir/each.trace" --by leaf --no-cache)" \
		"$(peak "$preport" -i "$dir/rounds.trace" --by leaf --no-cache --threads 8)" "as recorded; every sample 100 times; 20 times as long, 8 threads"
	rm -f "$dir/each.trace" "$dir/rounds.trace"
}

reading_unwinding() {
	local tool=$BUILD/tests/tools/unwind_bench
	[ -x "$tool" ] || return
	echo
	echo "Unwinding alone, a frame delivered (bar 100 ns, 40 ns with taking over callers):"
	"$tool" --warm "$dir/report.trace" 2>&1 | sed 's/^/  /'
	echo "  every frame walked:"
	"$tool" --warm --no-splice "$dir/report.trace" 2>&1 | tail -2 | sed 's/^/  /'
}

reading_debug() {
	local file=${BENCH_DEBUG:-} probe=$BUILD/tests/tools/symbol_probe
	[ -n "$file" ] || file=$(find /usr/lib/debug -type f -size +100M 2>/dev/null | head -1)
	[ -n "$file" ] && [ -x "$probe" ] || { echo "no debug information of 100 MB or more: name a file with BENCH_DEBUG"; return; }
	nm -S --defined-only "$file" 2>/dev/null | awk 'NF == 4 && $3 ~ /[tTwW]/ { print $1 }' | sort -u | shuf -n 20000 --random-source=<(yes) | sort >"$dir/addresses"
	rm -rf "$dir/kept"
	row "$(wc -l <"$dir/addresses") addresses of $(($(stat -c %s "$file") >> 20)) MiB" "CPU s" "wall s" "" ""
	for round in cold warm; do
		cpu "$round" env TIME=1 CACHE="$dir/kept" sh -c "'$probe' '$file' <'$dir/addresses'"
		row "  $round" "$(median "$dir/$round.cpu")" "$(median "$dir/$round.wall")" "" "$(awk '{ print int($3 / 1024), "MiB" }' "$dir/$round.err") (bar 5 s cold, 0.5 s warm)"
	done
}

# samply imports perf's recording of the same load; it names when its page asks for it, which is not counted here: less work than ours.
reading_peers() {
	local samply=${SAMPLY:-$BUILD/peers/bin/samply}
	[ "${PEERS:-0}" = 1 ] || return
	[ -x "$samply" ] || cargo install --quiet --locked --root "$BUILD/peers" samply || { echo "samply cannot be installed" >&2; return; }
	for _ in $(seq "$rounds"); do
		cpu samply "$samply" import --save-only -o "$dir/samply.json" "$dir/report.data"
		cpu beside "$preport" -i "$dir/report.trace" --by leaf --no-cache
	done
	row "samply import, without names, CPU s" "$(median "$dir/beside.cpu")" "$(median "$dir/samply.cpu")" "" \
		"$(ratio "$(median "$dir/samply.cpu")" "$(median "$dir/beside.cpu")") times less (bar 2, names included)"
}

reading_inlined
reading_threads
reading_memory
reading_peers
reading_unwinding
reading_debug
