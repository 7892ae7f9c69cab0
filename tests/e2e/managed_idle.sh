#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs in Python, PHP and Ruby that wait say how long they did in which function: the stacks of threads that are not on a
# CPU have the same shares, with the line that waits, and never add up to more than there was.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters

line() { grep -n "LINE $2" "$1" | cut -d: -f1; }
# wait_ns LINES PROGRAM MARK: how long the line with that mark waited
wait_ns() { plain_csv <"$1" | columns line weight | awk -F'\t' -v at=":$(line "$2" "$3")\$" '$1 ~ at { ns += $2 } END { print ns + 0 }'; }

check() { # check NAME COMMAND PROGRAM: SHORT and LONG wait one third and two
	local name=$1 program=$TOP/tests/programs/waits.$1 rounds=120
	shift
	precord --idle=100 -e cpu-clock -F 99 -o "$name.trace" -- "$@" "$program" "$rounds" >said.txt 2>precord.txt || { cat precord.txt; fail "$name failed"; }
	grep -q 'idle: up to [1-9]' precord.txt || { cat precord.txt; fail "$name: nothing was looked at"; }
	preport --event idle --by script-line --limit 100000 --format=csv -i "$name.trace" >lines.csv 2>/dev/null || fail "$name: no report"
	cat lines.csv
	local short=$(wait_ns lines.csv "$program" SHORT) long=$(wait_ns lines.csv "$program" LONG)
	# Each look falls into one of both with its share: six standard deviations of as many as there were. Looks are 10 ms apart; one that
	# came later stands for all the time before it, so a sample of more than a wait takes is one look.
	preport script --no-chain --event idle -i "$name.trace" 2>/dev/null | awk '$NF == "idle:" && $2 ~ /^([0-9]+)\/[0-9]+$/ { split($2, id, "/"); if (id[1] == id[2]) print $(NF - 1) }' >weights.txt
	awk -v short="$short" -v long="$long" -v rounds="$rounds" '
		FNR == NR { ns[$1] = $2; next }
		{ spread += $1 > 1.5 * ns["long"] / rounds ? $1 * $1 : $1 * 1e7 }
		END { p = ns["short"] / (ns["short"] + ns["long"]); all = short + long
			sigma = all ? sqrt(p * (1 - p) * spread) / all : 0; got = all ? short / all : 0
			printf "short %.3f of it, %.3f by construction, six deviations are %.3f; %.2f of %.2f s\n", got, p, 6 * sigma, all / 1e9, (ns["short"] + ns["long"]) / 1e9
			exit !(all > 0.5 * (ns["short"] + ns["long"]) && all < 1.25 * (ns["short"] + ns["long"]) + 1e9 && got > p - 6 * sigma - 0.02 && got < p + 6 * sigma + 0.02) }' said.txt weights.txt ||
		{ cat precord.txt; fail "$name: shares are not where the program says"; }
}

found=
if python=$(command -v python3); then
	check py "$python"
	preport --event idle --by script-line --limit 100000 --format=csv -i py.trace 2>/dev/null |
		grep -q "waits.py:$(line "$TOP/tests/programs/waits.py" EVER)" || fail "the thread that waits for ever is not there"
	# Threads that wait before their interpreter is found, and never run again, are looked at once more when it is.
	cat >late.py <<-'EOF'
		import os, threading, time
		threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()  # LINE EVER
		time.sleep(1)  # LINE LONG
		os._exit(0)
	EOF
	precord --idle=1000 -o late.trace -- sh -c 'sleep 0.4; exec "$1" -I -S "$2"' sh "$python" "$PWD/late.py" 2>precord.txt || { cat precord.txt; fail "late.py failed"; }
	preport --event idle --by script-line --limit 100000 --format=csv -i late.trace >late.csv 2>/dev/null || fail "no report"
	for mark in EVER LONG; do
		ns=$(wait_ns late.csv late.py $mark)
		[ "$ns" -gt 500000000 ] || { cat late.csv; fail "threads that waited before their interpreter was found: $mark has $ns ns of 1 s"; }
	done
	preport --event idle --by wait -i py.trace 2>/dev/null | grep -q sleep || fail "it is not said what they wait for"
	preport --event idle --by script-line -i py.trace 2>/dev/null | grep -q ' waiting ' || fail "time that waits is not called so"
	found=1
fi
if php=$(command -v php) && php -r 'exit(PHP_VERSION_ID >= 80600 || PHP_ZTS && PHP_VERSION_ID < 70400 ? 1 : 0);'; then
	check php "$php"
	found=1
fi
if ruby=$(command -v ruby) && "$ruby" -e 'v = RUBY_VERSION.to_f; exit(RUBY_ENGINE == "ruby" && v >= 2.5 && v < 3.5)'; then
	check rb "$ruby"
	preport --event idle --by script-line --limit 100000 --format=csv -i rb.trace 2>/dev/null |
		grep -q "waits.rb:$(line "$TOP/tests/programs/waits.rb" EVER)" || fail "Ruby's thread that waits for ever is not there"
	found=1
fi
[ "$found" ] || skip "there is no interpreter that is known"
precord --idle=0 -- true 2>err.txt && fail "a rate of 0 was taken"
grep -q 'is not a rate' err.txt || fail "it is not said which rates there are"
exit 0
