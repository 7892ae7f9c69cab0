#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that burns 30, 20, 10 and 40 % by construction, recursively, inlined, in threads, processes, a
# library loaded at run time and a signal handler: the measured shares are as far from the true ones as their 95 % intervals say.
# slow: it records long enough for shares to be narrow
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

rounds=2
cc=$CC
$cc -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread
$cc -O2 -g -shared -fPIC -o plugin.so "$TOP/tests/programs/shares_plugin.c"
export SHARES_PLUGIN=$PWD/plugin.so

>deviations
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
			row=$(columns function share low high samples <s.csv | awk -F'\t' -v f="${truth%:*}" '$1 == f')
			[ -n "$row" ] || { cat s.csv; fail "round $round, $mode: ${truth%:*} is not in the table"; }
			echo "$row" | awk -F'\t' -v OFS='\t' -v t="${truth#*:}" -v run="$round, $mode" '{
				deviation = ($2 - t) / ($2 > t ? $2 - $3 : $4 - $2) * 1.959964
				print deviation, ($2 - t) / sqrt(t * (1 - t) * $2 / $5), run ": " $1, $2, $3, $4, t }' >>deviations
		done
	done
done
# In standard deviations as the intervals have them: squares of the 56 add up to 56 on average, and to more than 140 once
# in 150,000 if the intervals are honest (Chernoff's bound; four shares of a run depend on one another); to 224 if they
# are half as wide as they should be. In those of as many samples, no share is six from the truth, whatever its interval.
awk -F'\t' '{ sum += $1 * $1; outside += $1 * $1 > 3.8415; if ($2 * $2 > 36) { far = 1; print "far:", $0 } else if ($1 * $1 > 3.8415) print "outside:", $0 }
	END { printf "%d intervals, %d without the true share, squares of deviations add up to %.1f\n", NR, outside, sum
		exit far || NR != 56 || sum > 140 }' deviations || fail "the true shares are not where the intervals are"
