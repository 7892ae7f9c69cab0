#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Functions of one name in one program are rows of their own in every output: two static ones of two files, with and without
# debug information, two instances of a template, two lambdas. Each takes a good part of the time, so that some of a
# thousand samples are in it.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

cat >one.c <<'C'
extern volatile unsigned long sink;
static __attribute__((noinline, noclone)) void step(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
void one(unsigned long n) { step(n); sink++; }
C
sed 's/one(/two(/; s/sink += i/sink ^= i/' one.c >two.c
cat >main.c <<'C'
#include <time.h>
volatile unsigned long sink;
void one(unsigned long n);
void two(unsigned long n);
int main(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;) {
		one(100000);
		two(100000);
	}
}
C
$CC -O2 -g -o with main.c one.c two.c
$CC -O2 -g0 -o without main.c one.c two.c

apart() { # apart TRACE NAME NAME: both names are in every output
	local to name
	preport -i "$1" --by leaf --format=csv --limit 1000 >out.table
	preport folded -i "$1" >out.folded
	preport flamegraph -i "$1" --svg -o out.svg
	preport -i "$1" --by leaf --tree >out.tree
	preport pprof -i "$1" -o out.pprof.gz
	preport folded -i out.pprof.gz >out.pprof
	for to in callgrind perf-script speedscope chrome firefox; do
		preport export -i "$1" --to "$to" -o "out.$to" 2>/dev/null
	done
	for to in table folded svg tree pprof callgrind perf-script speedscope chrome firefox; do
		for name in "$2" "$3"; do
			[ $to != svg ] || name=$(sed 's/</\&lt;/; s/>/\&gt;/' <<<"$name") # SVG is XML
			grep -qF -- "$name" "out.$to" || { head -30 "out.$to"; fail "$to of $1 does not have '$name'"; }
		done
	done
}

for program in with without; do
	precord -q -e cpu-clock -F 999 -o $program.trace -- ./$program
done
apart with.trace 'step (one.c)' 'step (two.c)'
addresses=$(nm without | awk '$3 == "step" { sub(/^0+/, "", $1); print "step (0x" $1 ")" }')
apart without.trace "$(echo "$addresses" | head -n 1)" "$(echo "$addresses" | tail -n 1)"

# The same program twice: diff finds each function on both sides.
precord -q -e cpu-clock -F 999 -o again.trace -- ./with
preport diff with.trace again.trace --format=csv --limit 1000 >out.diff
for name in 'step (one.c)' 'step (two.c)'; do
	[ "$(grep -cF -- "$name" out.diff)" = 1 ] || { cat out.diff; fail "diff does not have '$name' once"; }
done

command -v g++ >/dev/null || { echo 'no g++: lambdas and templates are left out'; exit 0; }
cat >lambda.cc <<'C'
#include <ctime>
volatile unsigned long sink;
template <class T> static __attribute__((noinline)) void turn(T n) { for (T i = 0; i < n; i++) sink = sink + i; }
int main()
{
	auto first = [](unsigned long n) { for (unsigned long i = 0; i < n; i++) sink = sink + 7 * i; };
	auto second = [](unsigned long n) { for (unsigned long i = 0; i < n; i++) sink = sink - 3 * i; };
	for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;) {
		turn<unsigned>(50000);
		turn<unsigned long>(50000);
		first(50000);
		second(50000);
	}
}
C
g++ -O2 -g -o lambda lambda.cc
precord -q -e cpu-clock -F 999 -o lambda.trace -- ./lambda
apart lambda.trace 'turn<unsigned int>' 'turn<unsigned long>'
apart lambda.trace 'main::{lambda#1}::operator()' 'main::{lambda#2}::operator()'

# The next build, whose addresses and lines are others, and in which the first lambda does twice the work.
mkdir next
sed 's/^int main/static void __attribute__((noinline)) more() { sink = sink ^ 1; }\n\n&/; s/first(50000)/more(); first(100000)/' lambda.cc >next/lambda.cc
g++ -O2 -g -o next/lambda next/lambda.cc
precord -q -e cpu-clock -F 999 -o next.trace -- next/lambda
preport diff lambda.trace next.trace --format=csv --limit 1000 >out.diff
for name in 'turn<unsigned int>' 'turn<unsigned long>' 'main::{lambda#1}::operator()' 'main::{lambda#2}::operator()'; do
	[ "$(grep -F -- "$name" out.diff | awk -F, '$1 > 0.05 && $2 > 0.05' | wc -l)" = 1 ] ||
		{ cat out.diff; fail "diff of two builds does not have '$name' once, on both sides"; }
done

command -v tmux >/dev/null || { echo 'no tmux: the terminal interface is left out'; exit 0; }
tmux() { command tmux -L "same$$" "$@"; }
trap 'tmux kill-server 2>/dev/null' EXIT
tmux -f /dev/null new-session -d -x 160 -y 40 "TERM=screen LC_ALL=C.UTF-8 preport -i lambda.trace tui"
for name in 'turn<unsigned int>' 'turn<unsigned long>' 'main::{lambda#1}::operator()' 'main::{lambda#2}::operator()'; do
	for i in $(seq 600); do
		tmux capture-pane -p >out.tui
		grep -qF -- "$name" out.tui && continue 2
		sleep 0.1
	done
	cat out.tui
	fail "the terminal interface does not have '$name'"
done
