#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rings that are too small (-m is raised to two samples, and says so) lose many; everyone who reports that gives the same number, by CPU and along
# the time line too, and mappings and names are all there.
# slow: it records with rings that are too small
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"

number() { sed -n "s/^  \"$1\": \([0-9]*\),*\$/\1/p" info.json; }

# A reader that is quick enough loses nothing even so: it is stopped twenty times while four processes are busy.
cat >stop.sh <<'END'
./shares fork 2 &
for i in $(seq 20); do
	kill -STOP $PPID
	sleep 0.05
	kill -CONT $PPID
	sleep 0.05
done
wait
END

# With -a last, for what follows. Of the losses of single processes the number is an estimate, but one only.
for target in '' -a; do
	precord $target -e cpu-clock -F 4999 -m 4K --realtime never -o tiny.trace -- sh stop.sh 2>err.txt || { cat err.txt; fail "precord $target: $?"; }
	preport -i tiny.trace info --format=json >info.json || fail "info fails"
	samples=$(number samples) lost=$(number lost)
	[ "$lost" -gt $((samples / 100)) ] || { cat err.txt info.json; fail "$lost lost with the smallest rings, and $samples samples"; }
	grep -q '^precord: .*4 KiB cannot hold two samples.* 128 KiB instead' err.txt || { cat err.txt; fail "nothing is said about too small an -m"; }

	grep -q "^precord: $lost samples .* were lost" err.txt || { cat err.txt; fail "precord's own number is not $lost"; }
	share=$(awk -v l="$lost" -v n="$samples" 'BEGIN { printf "%.1f %%", 100 * l / (l + n) }')
	preport -i tiny.trace >report.txt 2>report.err || { cat report.err; fail "preport fails"; }
	grep -q "^trust: lost $share," report.txt || { head -n 8 report.txt; fail "preport does not say 'lost $share'"; }
done

# By CPU, and all of them.
by_cpu=$(sed -n 's/^ *{"event": "cpu-clock", .*"lost": \([0-9]*\),.*/\1/p' info.json | awk '{ n += $1 } END { print n, NR }')
[ "$by_cpu" = "$lost $(nproc --all)" ] || [ "$by_cpu" = "$lost $(getconf _NPROCESSORS_ONLN)" ] ||
	{ cat info.json; fail "by CPU: $by_cpu, in all: $lost"; }

# When: the kernel tells with the next record that finds room, so that the last few may not be told.
preport -i tiny.trace script --all --format=json >events.json 2>/dev/null
read -r told times <<<"$(grep -E '"kind": "lost(-samples|_samples)?"' events.json | sed 's/.*"count": "*\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n + 0, NR }')"
[ "$told" -gt 0 ] && [ "$told" -le "$lost" ] && [ "$times" -ge 10 ] || fail "on the time line: $told lost, told $times times; in all $lost"

# The side-band has rings of its own.
forks=$(grep -c '"kind": "fork".*"process": "shares"' events.json)
[ "$forks" -ge 4 ] || fail "$forks of 4 forks"
grep -q '"kind": "mmap".*/shares"' events.json || fail "the program's mapping is not there"
exit 0
