#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tasks and mappings that come and go in thousands are all there; samples of a program that was run by a thread, of a
# thread that outlives its leader, under hostile names and from hostile paths belong where they should, and every
# output escapes what could harm a terminal.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o strange "$TOP/tests/programs/strange_tasks.c" -lpthread || fail "cannot compile"

record() { # record TRACE ARG...
	local trace=$1
	shift
	precord -q -F 999 -o "$trace" -- "$@" >out.txt 2>err.txt || { cat err.txt; fail "precord $*: status $?"; }
	preport -i "$trace" script --all --format=json >events.json 2>err.txt || { cat err.txt; fail "$trace does not read"; }
}

# share BY NAME: how many of 100 samples of $trace are of NAME
share() {
	preport -i "$trace" --by "$1" --limit 1000 --format=csv 2>/dev/null | columns "$1" samples |
		awk -F'\t' -v name="$2" '{ all += $2 } $1 == name { n += $2 } END { print all ? int(100 * n / all) : 0 }'
}

events() { grep -c "\"kind\": \"$1\".*$2" events.json; }

# At least 1000 forks, names, execs and exits, with what each process was called before and after.
record storm.trace ./strange storm 0 short-lived
[ "$(events fork '')" -ge 1000 ] || fail "$(events fork '') forks of 1000"
[ "$(events exit '')" -ge 1000 ] || fail "$(events exit '') exits of 1000"
[ "$(events comm '"comm": "short-lived", "exec": false')" = 1000 ] || fail "$(events comm short-lived) names of 1000"
[ "$(events comm '"comm": "exe", "exec": true')" = 1000 ] || fail "$(events comm '"exec": true') execs of 1000"
[ "$(events mmap '"path": "[^"]*/strange"')" -ge 1000 ] || fail "$(events mmap '/strange"') mappings of 1000"
grep -q '"kind": "lost"' events.json && fail "something was lost"

# Tens of thousands of mappings.
record maps.trace ./strange mappings 1000
count=$(cat out.txt) found=$(events mmap '"path": "[^"]*/strange"')
grep '"kind": "lost"' events.json | head -n 3
[ "$found" -ge "$count" ] || fail "$found of $count mappings"

# Some while the recorder gets no CPU: the ring of their CPU has room for 20,000. What it has none for is counted, though
# nothing comes behind it that would say so.
cpu=$(sed -n 's/^Cpus_allowed_list:.*[-,\t]//p' /proc/self/status)
for count in 20000 60000; do
	printf '%s\n' 'kill -STOP $PPID' "taskset -c $cpu ./strange mapped $count" 'kill -CONT $PPID' >stop.sh
	precord -q -g none -F 99 -o stopped.trace -- sh stop.sh 2>err.txt || { cat err.txt; fail "a recorder that stood still: status $?"; }
	preport -i stopped.trace script --all --format=json >events.json 2>err.txt || fail "stopped.trace does not read"
	found=$(events mmap '"path": "[^"]*/strange"')
	lost=$(sed -n '/"kind": "lost"/s/.*"count": "*\([0-9]*\).*/\1/p' events.json | awk '{ n += $1 } END { print n + 0 }')
	[ $count = 60000 ] || [ "$found" -ge $count ] || fail "the recorder stood still: $found of $count mappings"
	[ $((found + lost)) -ge $count ] || fail "the recorder stood still: $found of $count mappings, $lost told to be lost"
done

# A program that began then is known all the same, for it still runs when there is room again.
cat >stop.sh <<END
kill -STOP \$PPID
taskset -c $cpu ./strange mapped 60000
taskset -c $cpu ./strange busy 1000 &
sleep 0.3
kill -CONT \$PPID
wait
END
trace=begun.trace
precord -q -F 999 -g none -o $trace -- sh stop.sh 2>err.txt || { cat err.txt; fail "a program that began unseen: status $?"; }
found=$(preport -i $trace --by module --limit 1000 --format=csv 2>/dev/null | columns module samples | awk '$1 == "strange" { print $2 }')
[ "${found:-0}" -ge 250 ] || { preport -i $trace --by thread,module; fail "a program that began unseen has no mappings"; }

trace=exec.trace
record $trace ./strange thread-exec 500 x
[ "$(share module strange)" -ge 50 ] || { preport -i $trace --by module; fail "a thread's exec: the program is lost"; }
[ "$(share thread exe)" -ge 80 ] || { preport -i $trace --by thread; fail "a thread's exec: the name is wrong"; }
[ "$(preport -i $trace --by process --format=csv 2>/dev/null | columns process | sort -u | grep -cv precord)" -le 2 ] ||
	{ preport -i $trace --by process; fail "a thread's exec: more than one process"; }

trace=leaderless.trace
record $trace ./strange leaderless 500 survivor
[ "$(share thread survivor)" -ge 80 ] || { preport -i $trace --by thread; fail "a thread without leader: the name is wrong"; }
[ "$(share module strange)" -ge 50 ] || { preport -i $trace --by module; fail "a thread without leader: the program is lost"; }

# Names and paths with control bytes, invalid UTF-8, and as long as paths may be.
clean() { # clean FILE WHAT: no control bytes but newline, valid UTF-8
	[ -s "$1" ] || fail "$2: no output"
	LC_ALL=C tr -d '\n\t\r\040-\377' <"$1" | grep -q . && fail "$2: control bytes in the output"
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$2: not UTF-8"
}

long=$(printf '%0200d' 0)
folder=$'\e[31mred\n'$'\xff\xfe'"\"'<&>"
mkdir -p "$folder/$long/$long/$long" || fail "cannot make a hostile path"
cp strange "$folder/$long/$long/$long/pro"$'\a'"gram"
trace=hostile.trace
record $trace "./$folder/$long/$long/$long/pro"$'\a'"gram" name 500 $'\e]0;x\a\xff'
for view in '' '--by thread' '--by module' '--by module --format=csv' '--by process,module --format=json' info 'info --format=json' \
	'script --all' 'script --all --format=json' folded flamegraph; do
	preport -i $trace $view >view.txt 2>view.err || { cat view.err; fail "preport $view"; }
	clean view.txt "preport $view"
done
preport -i $trace script --all --format=json 2>/dev/null >events.json
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys; [json.loads(line) for line in open("events.json", "rb")]' || fail "not JSON"
fi
preport -i $trace --by module,leaf 2>/dev/null >view.txt
grep -q ' burn ' view.txt || { cat view.txt; fail "functions of a program at a hostile path have no names"; }
exit 0
