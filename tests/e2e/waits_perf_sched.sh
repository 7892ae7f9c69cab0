#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waits made of sched_switch and sched_waking in perf.data are what "perf sched timehist" says of the same file: of each thread
# that ended within it, the time on a CPU and blocked. Of a kept file, and of one that is made here where perf may.
set -u
. "$TOP/tests/e2e/lib/recording.bash"

# "tid ran blocked" of threads that ended, in ns, from timehist: a wait is blocked until its delay begins, unless the thread
# could have gone on.
by_perf() {
	local times=' +([0-9.]+) +([0-9.]+) +([0-9.]+) +([A-Z]).*'
	sed -nE "s/^ *[0-9.]+ +\[[0-9]+\] +//; s/^.*\[([0-9]+)(\/[0-9]+)?\]$times/\1 \3 \4 \5 \6/p; s/^:([0-9]+)$times/\1 \2 \3 \4 \5/p" "$1" |
		awk '{ ran[$1] += $4 * 1e6; if (state[$1] ~ /[SDIK]/) blocked[$1] += ($2 - $3) * 1e6; state[$1] = $5 }
		     END { for (t in ran) if (state[t] ~ /[XZ]/) printf "%s %d %d\n", t, ran[t], blocked[t] }' | sort
}
by_us() {
	preport -i "$1" --event wall --by tid,state -n 0 --format=csv 2>err.txt | columns tid state weight |
		awk -F'\t' '$2 == "on a CPU" { ran[$1] += $3 } $2 == "blocked" { blocked[$1] += $3 } { seen[$1] }
			END { for (t in seen) print t, ran[t] + 0, blocked[t] + 0 }' | sort
}
# compare FILE TIMEHIST: within 1 %, and timehist rounds each of some ten turns to 1 us
compare() {
	by_perf "$2" >perf.txt
	by_us "$1" >us.txt
	[ "$(wc -l <perf.txt)" -ge 4 ] || { cat "$2" perf.txt; fail "$1: timehist shows too few threads that ended"; }
	join perf.txt us.txt >both.txt
	[ "$(wc -l <both.txt)" = "$(wc -l <perf.txt)" ] || { cat perf.txt us.txt err.txt; fail "$1: threads are missing"; }
	awk 'function off(a, b) { d = a > b ? a - b : b - a; return d > 0.01 * a + 20000 }
	     off($2, $4) || off($3, $5) { print "thread " $1 ": perf " $2 " " $3 ", preport " $4 " " $5; bad = 1 }
	     END { exit bad }' both.txt || fail "$1: times differ from perf sched timehist"
}

gunzip -c "$TOP/tests/data/import/perf-sched.data.gz" >kept.data
compare kept.data "$TOP/tests/data/import/perf-sched.timehist"
preport -i kept.data >out.txt 2>err.txt || { cat err.txt; fail "the summary"; }
grep -q 'where threads wait (off-cpu)' out.txt || { cat out.txt; fail "waits are not what comes first"; }
preport waits -i kept.data --by state >out.txt 2>err.txt || { cat err.txt; fail "waits"; }
grep -q 'waiting for a CPU' out.txt || { cat out.txt; fail "wakings do not cut waits"; }
preport -i kept.data --event off-cpu --by waker >out.txt 2>err.txt || { cat err.txt; fail "--by waker"; }
grep -q 'sh [0-9]' out.txt || { cat out.txt; fail "no waker is known"; }
# Other threads' switches tell when a thread comes, and yet are not its own.
thread=$(awk '{ print $1; exit }' perf.txt)
preport -i kept.data --tid "$thread" --event wall --by tid -n 0 --format=csv 2>err.txt | columns tid | sort -u >out.txt
[ "$(cat out.txt)" = "$thread" ] || { cat out.txt; fail "--tid $thread shows others"; }
command -v perf >/dev/null || { echo "perf is not here: no file was made"; exit 0; }
perf sched record -o here.data -- sh -c 'for i in 1 2 3 4; do (sleep 0.01; echo a) | cat; done' >out.txt 2>err.txt ||
	{ echo "perf may not record here: $(tail -n 1 err.txt)"; exit 0; }
# Without stacks there is no function to show, but who waits.
preport here.data >out.txt 2>err.txt
grep -q '^who waits' out.txt && ! grep -q 'where threads wait' out.txt || { cat out.txt; fail "the summary of waits without stacks"; }
perf sched timehist --state -i here.data >timehist.txt 2>err.txt || { echo "timehist: $(tail -n 1 err.txt)"; exit 0; }
# Where perf lost records the two guess differently.
preport -i here.data --event wall --by state -n 0 --format=csv 2>err.txt | columns state >out.txt
grep -q lost out.txt && { echo "perf lost switches"; exit 0; }
[ -s timehist.txt ] && compare here.data timehist.txt
