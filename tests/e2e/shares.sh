#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that burns 30, 20, 10 and 40 % by construction, recursively, inlined, in threads, processes, a
# library loaded at run time and a signal handler: the measured shares lie inside their 95 % intervals as often as that says.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

rounds=2
cc=$CC
$cc -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread
$cc -O2 -g -shared -fPIC -o plugin.so "$TOP/tests/programs/shares_plugin.c"
export SHARES_PLUGIN=$PWD/plugin.so

checked=0 missed=0
for round in $(seq $rounds); do
	for mode in plain recursive inlined threads fork dlopen signal; do
		case $mode in
		inlined) heavy=heavy_inlined ;;
		dlopen) heavy=heavy_plugin ;;
		*) heavy=heavy ;;
		esac
		precord -q -e cpu-clock -F 999 -o s.trace -- ./shares $mode 1
		preport -i s.trace --by total --limit 100000 --format=csv >s.csv
		for truth in $heavy:0.30 medium:0.20 light:0.10 rest:0.40; do
			row=$(columns function share low high <s.csv | awk -F'\t' -v f="${truth%:*}" '$1 == f')
			[ -n "$row" ] || { cat s.csv; fail "round $round, $mode: ${truth%:*} is not in the table"; }
			verdict=$(echo "$row" | awk -F'\t' -v t="${truth#*:}" '{
				print (t >= $3 && t <= $4) ? "inside" : "outside"
				if ($2 < t - 0.06 || $2 > t + 0.06) print "far" }')
			checked=$((checked + 1))
			case $verdict in
			*far*) fail "round $round, $mode: $row where ${truth#*:} is true" ;;
			outside*) missed=$((missed + 1)); echo "outside: round $round, $mode: $row (truth ${truth#*:})" ;;
			esac
		done
	done
done
# 5 % of 56 are 2.8; more than 8 has a chance of 1 in 500 if the intervals are honest.
echo "$checked intervals, $missed without the true share"
[ $missed -le 8 ] || fail "too many intervals miss the truth"
