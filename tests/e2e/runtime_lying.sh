#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that look like Java, with complete tables that lead to lies: lengths of 2^63, circles, pointers into nowhere, words that change
# all the time. Their stacks stay whole, the recorder ends, and a machine beside them that says the truth has its names.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "the program is written for x86-64"
[ "$(id -u)" = 0 ] || skip "only root may read other processes' memory for sure"

${CC:-cc} -O1 -shared -fPIC -o libjvm.so "$TOP/tests/programs/lying_jvm.c" -lpthread || fail 'building the machine'
echo 'void lie(const char *); int main(int n, char **arg) { (void)n; lie(arg[1]); return 1; }' >lying.c
${CC:-cc} -O1 -w -o lying lying.c ./libjvm.so || fail 'building the program'
trap 'kill ${victims[*]} 2>/dev/null' EXIT

hows=(truth lengths circles nowhere changes)
victims=()
for how in "${hows[@]}"; do
	./lying "$how" &
	victims+=($!)
done
for victim in "${victims[@]}"; do
	runs "$victim" lying
	burn 20 "$victim"
done
list=$(IFS=, && echo "${victims[*]}")
precord -q -o lying.trace -p "$list" -e cpu-clock:u -F 999 2>err.txt & recorder=$!
begun $recorder lying.trace
for victim in "${victims[@]}"; do burn 100 "$victim"; done
kill -TERM $recorder
wait $recorder || { cat err.txt; fail 'the recorder did not end well'; }

for i in "${!hows[@]}"; do
	preport -i lying.trace folded --samples -p "${victims[i]}" 2>/dev/null >folded
	awk '/;change/ { next } { all += $NF } /;main;lie;[^;]+/ { whole += $NF } /;lie;org.Outer.run;org.Outer.step / { named += $NF }
		END { print all + 0, whole + 0, named + 0 }' folded >counts
	read -r all whole named <counts
	echo "${hows[i]}: $all samples in the code, $whole whole, $named with names"
	[ "$all" -ge 10 ] || fail "${hows[i]}: $all samples of 100 ms at 999 Hz"
	[ $((whole * 100)) -ge $((all * 90)) ] || { head -n 5 folded; fail "${hows[i]}: broken stacks"; }
	[ "${hows[i]}" != truth ] || [ $((named * 100)) -ge $((all * 80)) ] || { head -n 5 folded; fail 'the truth is not believed'; }
done
[ "$(stat -c %s lying.trace)" -le 1000000 ] || fail 'lies fill the recording'
exit 0
