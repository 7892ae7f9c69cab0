#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Node.js as it is started everywhere, without any option: stacks through compiled and interpreted functions are whole, and functions,
# inlined ones too, have names and lines; NODES may name more programs than the one on the PATH.
# slow: each has to warm up, three times
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/node.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for V8's code are x86-64's"

cat >work.js <<'END_J'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function inlined(n) {
	return (n * 31 + 7) % 1009; // line 3
}
function loop(n) {
	let sum = 0;
	for (let i = 0; i < 4000; i++)
		sum = inlined(sum + n); // line 8
	return sum;
}
function* numbers(n) { for (let i = 0; i < n; i++) yield i; }
const make = () => { let c = 0; return function closure(n) { for (const i of numbers(n)) c += i; return c; }; };
const closure = make();
function thrower(n) { if (!n) throw new RangeError('none'); return thrower(n - 1); }
function catcher() { try { thrower(4); } catch (e) { return e.message.length; } }
let sink = 0;
function outer() { sink += fib(15) + loop(sink) + closure(300) + catcher() + [3, 1, 2].map(function mapped(x) { return fib(x + 8); })[0]; }
const end = Date.now() + 120000;
while (Date.now() < end) outer();
END_J
trap 'kill $victim 2>/dev/null' EXIT

try() { # try NODE [OPTION]: an option only decides which compilers there are
	local node=$1 all broken named unnamed lines
	"$node" ${2:+"$2"} work.js & victim=$!
	burn 700 $victim
	record_burning 1500 $victim node.trace -e cpu-clock:u -F 499 2>err.txt || { cat err.txt; fail 'cannot record'; }
	kill $victim
	wait $victim 2>/dev/null
	preport -i node.trace folded --samples 2>/dev/null >folded
	awk '/;outer;/ || /;work.js/ { all += $NF } /^[^;]*;\[/ { broken += $NF } /;outer;.*(fib|loop|inlined|closure|numbers|catcher)/ { named += $NF }
		/\[jit/ { unnamed += $NF } END { print all + 0, broken + 0, named + 0, unnamed + 0 }' folded >counts
	read -r all broken named unnamed <counts
	lines=$(preport -i node.trace --by line 2>/dev/null | grep -c 'work.js:[138] ')
	echo "$node ${2:-}: $all stacks, $broken broken, $named through the functions, $unnamed without names, $lines lines"
	[ "$all" -ge 50 ] || { echo "only $all samples"; return; }
	tried=1
	# One in a hundred without the optimizing compiler; eight more are chance.
	[ $(((broken - 8) * 50)) -le "$all" ] || { grep '^[^;]*;\[' folded | cut -c 1-300 | head -n 5; fail "$node: broken stacks"; }
	[ $((named * 10)) -ge $((all * 7)) ] || { head -n 5 folded | cut -c 1-300; fail "$node: functions have no names"; }
	[ $((unnamed * 50)) -le "$all" ] || { grep '\[jit' folded | cut -c 1-300 | head -n 5; fail "$node: code has no names"; }
	# Functions that were never optimized and never threw may have no table of positions (lazy source positions).
	[ "$lines" -ge 1 ] || [ "${2:-}" ] || { preport -i node.trace --by line; fail "$node: no lines"; }
	# What V8 itself puts between functions is shown when it is asked for.
	! grep -q ';outer;.*Builtins_[^;]*IC' folded || { grep -m 3 'Builtins_[^;]*IC' folded | cut -c 1-300; fail "$node: builtins are not left out"; }
	[ "${2:-}" ] || preport --native -i node.trace folded 2>/dev/null | grep -q ';outer;.*Builtins_' || fail "$node: --native shows no builtins"
	preport strip --stacks -i node.trace -o stripped.trace 2>/dev/null || fail 'cannot strip'
	preport -i stripped.trace folded --samples 2>/dev/null | grep -v '^[^;]*;\[' >stripped
	grep -v '^[^;]*;\[' folded | diff stripped - >changed || { cut -c 1-300 changed | head -n 6; fail "$node: strip changes stacks"; }
}

tried=
for node in $( (command -v node; printf '%s\n' ${NODES:-}) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	knows_node "$node" || { echo "$node is none of those that precord(1) names"; continue; }
	try "$node"
	try "$node" --no-opt # interpreter and baseline
	try "$node" --max-lazy # interpreter
done
[ "$tried" ] || skip 'no Node.js here could be sampled'
exit 0
