# SPDX-License-Identifier: Apache-2.0
# CPU time of commands, and their comparison. Sourced; $dir is a folder for scratch files.

# cpu NAME COMMAND...: run it, leave user+system seconds in $dir/NAME.cpu and wall seconds in $dir/NAME.wall
cpu() {
	local name=$1 TIMEFORMAT='%U %S %R'
	shift
	{ time "$@" >"$dir/$name.out" 2>"$dir/$name.err"; } 2>"$dir/$name.time"
	awk -v f="$dir/$name" '{ print $1 + $2 >> (f ".cpu"); print $3 >> (f ".wall") }' "$dir/$name.time"
}

# median FILE
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }
lower() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b) ? a : b }'; }
