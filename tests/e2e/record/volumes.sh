#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --switch-output and --overwrite: each file is complete and readable by itself, with names and mappings from before it
# began; together the files of --switch-output hold every sample once; old files go, a limit ends the recording.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread || fail "cannot compile"
ahead ./shares paced 100 & victim=$!
trap 'kill $victim 2>/dev/null' EXIT

info() { preport -i "$1" info --format=json | sed -n "s/^  \"$2\": \"*\([0-9a-z]*\)\"*,*\$/\1/p"; }

# FILE has counts that are its own, and names for what the victim does. How many samples there are of so much CPU time is up to the
# machine: one that is busy ticks late. Of 50 samples hardly one in 10^7 times none
# is of the function that has 30 %.
check() { # check FILE AT-LEAST
	[ "$(info "$1" complete)" = true ] || fail "$1 is not complete"
	[ "$(info "$1" samples)" -ge "$2" ] || fail "$1 has only $(info "$1" samples) samples"
	preport -i "$1" script --no-chain --format=json 2>/dev/null | grep -c '"kind": "sample"' >count.txt
	[ "$(cat count.txt)" = "$(info "$1" samples)" ] || fail "$1: script has $(cat count.txt) samples, info $(info "$1" samples)"
	[ "$(cat count.txt)" -ge 50 ] || return 0
	preport -i "$1" --by leaf --limit 20 --format=csv 2>table.err | columns function module >names.txt || { cat table.err; fail "$1: no table"; }
	grep -q "^heavy	shares$" names.txt || { cat names.txt; fail "$1: the function has no name"; }
	preport -i "$1" --by process --format=csv 2>/dev/null | grep -q shares || fail "$1: the process has no name"
	named=$((named + 1))
}

# By time. How much runs in each file is the scheduler's to say: until a later one has what to check its names by.
by_time() {
	rm -f t.trace.2*
	precord -F 499 -o t.trace --switch-output=600ms -p $victim --duration 3.2 2>err.txt || { cat err.txt; fail "by time"; }
	[ ! -e t.trace ] || fail "a file without a time in its name is left"
	named=0
	total=0
	for file in t.trace.2*; do
		[[ $file =~ ^t\.trace\.20[0-9]{14}$ ]] || fail "a file is called $file"
		check "$file" 0
		total=$((total + $(info "$file" samples)))
	done
	printed=$(sed -n 's/^precord: .* s, \([0-9]*\) samples.*/\1/p' err.txt)
	[ "$total" = "$printed" ] || { cat err.txt; fail "the files have $total samples together, $printed were seen"; }
	set -- t.trace.2*
	[ $# -ge 3 ] && [ $named -ge 2 ]
}
by_time || by_time || by_time || by_time || fail "$named files with a number of samples: $(ls t.trace.2* | wc -l) in all"

# By size, the last two only.
precord -F 1999 -o s.trace --switch-output=4K --max-files 2 -p $victim 2>err.txt & recorder=$!
for _ in $(seq 1200); do
	last=$(ls s.trace.2* 2>/dev/null | tail -n 1)
	[ "$last" ] && [ "$last" != "${seen-}" ] && { seen=$last files=$((${files-0} + 1)); }
	[ "${files-0}" -ge 3 ] && break
	sleep 0.1
done
[ "${files-0}" -ge 3 ] || { cat err.txt; fail "only ${files-0} files by size in two minutes"; }
kill -TERM $recorder
wait $recorder || { cat err.txt; fail "by size: status $?"; }
set -- s.trace.2*
[ $# = 2 ] || fail "--max-files 2 left $# files"
named=0
for file; do check "$file" 0; done
[ $named -ge 1 ] || fail "--max-files 2: no file has samples to speak of"

# By signal and by command, which is answered when the file is there.
mkfifo ctl ack || fail "no FIFO to be had"
exec 8<>ack
precord -q -F 999 -o g.trace --switch-output --control fifo:ctl,ack -p $victim 2>err.txt & recorder=$!
echo ping >ctl
read -r -t 120 -u 8 answer || fail "no answer to ping"
burn 300 $victim
echo snapshot >ctl
read -r -t 120 -u 8 answer && [ "$(tr -d '\0' <<<"$answer")" = ack ] || fail "no answer to snapshot"
check "$(ls g.trace.2* | head -n 1)" 1
kill -USR2 $recorder
for _ in $(seq 1200); do [ "$(ls g.trace.2* | wc -l)" = 2 ] && break; sleep 0.05; done
echo stop >ctl
wait $recorder || { cat err.txt; fail "status $?"; }
set -- g.trace.2*
[ $# = 3 ] || fail "a command, a signal and the end gave $# files"

# A flight recorder: nothing is written but at the command and at the end; what ran and ended before is in there.
mkdir -p fly
precord -q -F 999 -o fly/f.trace --overwrite=1M --control fifo:ctl,ack -p $victim 2>err.txt & recorder=$!
read -r -t 1 -u 8 answer
echo ping >ctl
read -r -t 120 -u 8 answer || fail "no answer to ping"
burn 300 $victim
[ "$(ls fly)" = f.trace.part ] && [ ! -s fly/f.trace.part ] || fail "a flight recorder writes before it is asked: $(ls -s fly)"
echo snapshot >ctl
read -r -t 120 -u 8 answer || fail "no answer to snapshot"
check fly/f.trace.2* 1
first=$(info fly/f.trace.2* samples)
burn 200 $victim
echo stop >ctl
wait $recorder || { cat err.txt; fail "status $?"; }
check fly/f.trace $((first + 1))

# The limit ends the recording, not the command, whose status is passed on; the file says why it ends.
# It runs until that much is written, under whatever name, however little of a CPU it gets.
cat >until_full.sh <<'END'
./shares plain 120 & victim=$!
full() { [ "$(cat m.trace* .m.trace* 2>/dev/null | wc -c)" -ge 8192 ]; }
for _ in $(seq 1200); do full && break; sleep 0.1; done
kill $victim
exit 7
END
rm -f m.trace*
precord -F 4999 -o m.trace --max-size 8K -- sh until_full.sh 2>err.txt
[ $? = 7 ] || { cat err.txt; fail "the command's status is not passed on"; }
check m.trace 1
grep -q -e '--max-size' err.txt || { cat err.txt; fail "no word of the limit"; }
preport -i m.trace info | grep -q '^Note .*--max-size' || fail "the file does not say why it ends"

refused() { # refused WORDS ARG...
	local words=$1
	shift
	precord "$@" -- true 2>err.txt >out.txt && fail "precord $* is taken"
	grep -q -e "$words" err.txt || { cat err.txt; fail "precord $*: no word of it"; }
}
refused 'do not go into a pipe' -o - --switch-output
refused 'do not go into a pipe' -o - --overwrite
refused 'neither a size like 100M' --switch-output=100
refused 'neither a size like 100M' --switch-output=x
refused 'not a size from 1M on' --overwrite=1K
refused 'not a number from 1 on' --max-files 0
refused 'give --switch-output or --overwrite' --max-files 2
refused 'not by size or time' --overwrite --switch-output=1s
refused 'not by size or time' --overwrite --switch-output=10M
exit 0
