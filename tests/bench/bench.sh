#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compare with perf on the same load in the same run, and print ratios. Absolute times do not repeat on
# shared machines; ratios taken turn by turn do. Usage: bench.sh PRECORD PREPORT SHARES
set -u
precord=$1 preport=$2 shares=$3
seconds=${BENCH_SECONDS:-5}
rounds=${BENCH_ROUNDS:-3}
rate=${BENCH_RATE:-999}
dir=$(mktemp -d) || exit 1
load=
trap '[ -n "$load" ] && kill -- -"$load" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM

command -v perf >/dev/null || { echo "bench: perf is not installed: nothing to compare with" >&2; exit 1; }
"$precord" -q -a -o "$dir/try" -- true 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }

# cpu NAME COMMAND...: run it, leave user+system seconds in $dir/NAME.cpu and wall seconds in $dir/NAME.wall
cpu() {
	local name=$1 TIMEFORMAT='%U %S %R'
	shift
	{ time "$@" >"$dir/$name.out" 2>"$dir/$name.err"; } 2>"$dir/$name.time"
	awk -v f="$dir/$name" '{ print $1 + $2 >> (f ".cpu"); print $3 >> (f ".wall") }' "$dir/$name.time"
}

# median FILE
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

size() { stat -c %s "$1" >>"$dir/$2.size"; }

perf_lost() { perf report -i "$1" --stdio -g none --no-children -s comm 2>/dev/null | awk -F: '/Total Lost Samples/ { print $2 + 0; exit }'; }
perf_samples() { sed -n 's/.*(\([0-9]*\) samples).*/\1/p' "$1" | tail -1; }
our_number() { awk -F, -v k="$2" '$1 == k { print $2 }' "$1"; }

row() { printf '%-34s %12s %12s %12s   %s\n' "$@"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }
lower() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b) ? a : b }'; }

cp "$shares" "$dir/shares"
setsid "$(dirname "$0")/load.sh" "$dir" >/dev/null 2>&1 &
load=$!
sleep 2

for stack in 16384 65528; do
	echo
	echo "Recording: all CPUs, $rate Hz, $stack-byte snapshots, $rounds x $seconds s, compiler + interpreter + C"
	row "" precord perf "perf -z" "precord / cheaper perf"
	rm -f "$dir"/*.cpu "$dir"/*.size
	for round in $(seq "$rounds"); do
		cpu ours "$precord" -a -F "$rate" -e cpu-clock -g "dwarf,$stack" -o "$dir/ours.trace" -- sleep "$seconds"
		size "$dir/ours.trace" ours
		cpu perf perf record -a -F "$rate" -e cpu-clock --call-graph "dwarf,$stack" -o "$dir/perf.data" -- sleep "$seconds"
		size "$dir/perf.data" perf
		cpu perfz perf record -z -a -F "$rate" -e cpu-clock --call-graph "dwarf,$stack" -o "$dir/perfz.data" -- sleep "$seconds"
		size "$dir/perfz.data" perfz
	done
	a=$(median "$dir/ours.cpu") b=$(median "$dir/perf.cpu") c=$(median "$dir/perfz.cpu")
	row "recorder CPU, s" "$a" "$b" "$c" "$(ratio "$a" "$(lower "$b" "$c")")  (bar 0.50)"
	a=$(median "$dir/ours.size") b=$(median "$dir/perf.size") c=$(median "$dir/perfz.size")
	row "file, bytes" "$a" "$b" "$c" "$(ratio "$b" "$a") times smaller than perf (bar 40), $(ratio "$c" "$a") than -z (bar 2)"
	"$preport" -i "$dir/ours.trace" info --format=csv >"$dir/info.csv" 2>/dev/null
	row "samples lost, last round" "$(our_number "$dir/info.csv" lost)" "$(perf_lost "$dir/perf.data")" "$(perf_lost "$dir/perfz.data")" \
		"of $(our_number "$dir/info.csv" samples), $(perf_samples "$dir/perf.err")"
	[ "$stack" = 16384 ] && mv "$dir/ours.trace" "$dir/report.trace" && mv "$dir/perf.data" "$dir/report.data"
done
kill -- -"$load" 2>/dev/null
load=
sleep 1

echo
echo "Reporting the 16 KiB recording: cold command, $rounds rounds"
row "" preport "perf script" "" "perf / preport"
rm -f "$dir"/*.wall
for round in $(seq "$rounds"); do
	cpu report "$preport" -i "$dir/report.trace" --by leaf
	cpu names "$preport" -i "$dir/report.trace" --by leaf --no-inline
	cpu perfnames perf script -i "$dir/report.data" --no-inline
done
a=$(median "$dir/names.wall") b=$(median "$dir/perfnames.wall")
row "names only, wall s" "$a" "$b" "" "$(ratio "$b" "$a") times faster (bar 5)"
a=$(median "$dir/report.wall")
if [ "${BENCH_INLINE:-0}" = 1 ]; then
	cpu perfinline perf script -i "$dir/report.data"
	b=$(median "$dir/perfinline.wall")
	row "with inlined calls, wall s" "$a" "$b" "" "$(ratio "$b" "$a") times faster (bar 1000)"
else
	row "with inlined calls, wall s" "$a" "" "" "(BENCH_INLINE=1 also runs perf script with inlined calls: minutes)"
fi
