#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code that is registered with GDB's JIT interface, by programs as they are started everywhere: LLVM's (objects with symbols, unwind rules
# and debug information) and Erlang's. Stacks are whole; functions, inlined ones too, have names and lines, and the shares that
# they were made to have.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip 'what Erlang does with its stack is known of x86-64'
trap 'kill $victim 2>/dev/null' EXIT

# Both do three times as much in heavy as in light.
cat >work.c <<'END_C'
static volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
	x ^= x << 13; // line 4
	return x ^ x >> 7;
}
__attribute__((noinline)) unsigned long heavy(unsigned long n)
{
	unsigned long x = n + 1;
	for (unsigned long i = 0; i < 3 * n; i++)
		x = mix(x);
	return x;
}
__attribute__((noinline)) unsigned long light(unsigned long n)
{
	unsigned long x = n + 1;
	for (unsigned long i = 0; i < n; i++)
		x = mix(x);
	return x;
}
__attribute__((noinline)) void outer(unsigned long n)
{
	sink += heavy(n);
	sink += light(n);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 1000000; i++)
		outer(100000 + argc);
	return 0;
}
END_C
cat >work.erl <<'END_E'
-module(work).
-export([main/0, calls/0]).
heavy(0, A) -> A;
heavy(N, A) -> heavy(N - 1, (A * 31 + N) rem 65521).
light(0, A) -> A;
light(N, A) ->
    light(N - 1, (A * 31 + N) rem 65521).
outer(N) -> X = heavy(3 * N, 1), Y = light(N, X), put(sum, X + Y).
loop(0) -> ok;
loop(N) -> outer(100000), loop(N - 1).
main() -> loop(1000000).
% Nearly all of it in C: comparing is called by way of a register, making a binary by way of the process.
calls() -> L = lists:seq(1, 20000), turns(1000000, L, L ++ [1]).
turns(0, _, _) -> ok;
turns(N, L, M) -> both(L, M), turns(N - 1, L, M).
both(L, M) -> 0 = below(L, M, 20), 0 = pack(L, 4), ok.
below(_, _, 0) -> 0;
below(L, M, N) -> true = L < M, below(L, M, N - 1).
pack(_, 0) -> 0;
pack(L, N) -> true = is_binary(term_to_binary(L)), pack(L, N - 1).
END_E

judge() { # judge WHAT HEAVY-PATTERN LIGHT-PATTERN LINE: of jit.trace
	local what=$1 heavy=$2 light=$3 line=$4 all broken nheavy nlight
	preport -i jit.trace folded --samples 2>/dev/null >folded
	awk -v heavy="$heavy" -v light="$light" '{ all += $NF } /^[^;]*;\[/ { broken += $NF } $0 ~ heavy { h += $NF } $0 ~ light { l += $NF }
		END { print all + 0, broken + 0, h + 0, l + 0 }' folded >counts
	read -r all broken nheavy nlight <counts
	echo "$what: $all stacks, $broken broken, heavy $nheavy, light $nlight"
	[ "$all" -ge 100 ] || { echo "only $all samples"; return; }
	tried=1
	[ $((broken * 100)) -le $((all * 2)) ] || { cut -c 1-300 folded | head -n 5; fail "$what: broken stacks"; }
	[ $(((nheavy + nlight) * 100)) -ge $((all * 90)) ] || { cut -c 1-300 folded | head -n 5; cat err.txt; fail "$what: functions have no names"; }
	# 3 of 4, within five standard deviations, whatever the number of samples.
	awk -v h="$nheavy" -v l="$nlight" 'BEGIN { n = h + l; d = h - 0.75 * n; exit !(d * d <= 25 * 0.1875 * n) }' || fail "$what: heavy is not three quarters"
	preport -i jit.trace --by line 2>/dev/null >lines
	grep -q "$line" lines || { head lines; fail "$what: no line $line"; }
}

record_victim() { # what runs in the background as $victim
	runs $victim "$1"
	burn 300 $victim
	record_burning 1000 $victim jit.trace -e cpu-clock:u -F 499 2>err.txt || { cat err.txt; fail 'cannot record'; }
	kill $victim
	wait $victim 2>/dev/null
}

try_llvm() {
	local clang lli
	clang=$(command -v clang) && lli=$(command -v lli) || { echo 'there are no clang and lli here'; return; }
	"$clang" -O1 -g -S -emit-llvm work.c -o work.ll 2>clang.log || { echo "clang does not work: $(head -n 1 clang.log)"; return; }
	"$lli" --jit-kind=orc work.ll 2>lli.log & victim=$!
	record_victim lli
	judge LLVM ';main;outer;heavy' ';main;outer;light' 'work.c:4 '
	preport -i jit.trace annotate heavy 2>/dev/null | grep -q 'inlined mix' || fail 'LLVM: annotate knows nothing of what was inlined'
}

try_erlang() {
	command -v erlc >/dev/null || { echo 'there is no Erlang here'; return; }
	erlc work.erl >erlc.log 2>&1 || { echo "erlc does not work: $(head -n 1 erlc.log)"; return; }
	erl -noshell -s work main >erl.log 2>&1 & victim=$!
	runs $victim beam.smp
	grep -q __jit_debug_descriptor /proc/$victim/exe ||
		{ echo 'this Erlang registers no code'; kill $victim; return; }
	record_victim beam.smp
	judge Erlang 'normal_exit/0;.*work:outer/1;work:heavy/2' 'normal_exit/0;.*work:outer/1;work:light/2' 'work.erl:7 '
	try_erlang_in_c
}

# What C is called by lies on another stack, which is read once a sample was seen in the machine's own code.
try_erlang_in_c() {
	[ "$(id -u)" = 0 ] || return 0
	erl -noshell -s work calls >erl.log 2>&1 & victim=$!
	record_victim beam.smp
	preport -i jit.trace folded --samples 2>/dev/null >folded
	awk '{ all += $NF } /normal_exit\/0;.*work:both\/2;work:below\/3;/ { below += $NF } /normal_exit\/0;.*work:both\/2;work:pack\/2;/ { pack += $NF }
		END { print all + 0, below + 0, pack + 0 }' folded >counts
	read -r all below pack <counts
	echo "Erlang that calls C: $all stacks, $below compare, $pack make binaries"
	[ "$below" -ge 20 ] && [ "$pack" -ge 20 ] && [ $(((below + pack) * 100)) -ge $((all * 75)) ] ||
		{ cut -c 1-300 folded | head -n 8; fail 'Erlang: C is not called by Erlang functions'; }
}

tried=
try_llvm
try_erlang
[ "$tried" ] || skip 'nothing here that registers code could be sampled'
exit 0
