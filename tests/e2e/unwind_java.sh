#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --jvm-perfmap: a Java virtual machine that was started without any option writes its perf map at the end, and stacks through
# compiled and interpreted methods are whole and named.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for Java's code are x86-64's"
command -v java >/dev/null && command -v javac >/dev/null || skip 'there is no Java here'

cat >Work.java <<'END_J'
public class Work {
	static long sink;
	static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	static void outer() { for (int i = 0; i < 100; i++) sink += fib(15); }
	public static void main(String[] a) throws Exception {
		long end = System.nanoTime() + 120_000_000_000L;
		while (System.nanoTime() < end) outer();
	}
}
END_J
javac Work.java >javac.log 2>&1 || skip "javac does not work: $(head -n 1 javac.log)"
java -version 2>&1 | awk -F'[".]' 'NR == 1 { exit $2 < 17 }' || skip 'this Java has no Compiler.perfmap (JDK 17 and later)'
java Work & victim=$!
trap 'kill $victim 2>/dev/null; rm -f "/tmp/perf-$victim.map"' EXIT
runs $victim java
burn 2000 $victim
# While it compiles, code comes and goes; what has gone at the end has no name.
record_burning 2000 $victim java.trace -e cpu-clock:u -F 499 --jvm-perfmap 2>err.txt || { cat err.txt; fail 'cannot record'; }
! grep -q 'wrote no perf map' err.txt || fail "$(grep 'wrote no perf map' err.txt)"
preport -i java.trace folded --samples 2>/dev/null >folded
awk '{ all += $NF } /^[^;]*;\[/ { broken += $NF } /Work.outer.*Work.fib/ { named += $NF } END { print broken + 0, named + 0, all + 0 }' folded >counts
read -r broken named all <counts
echo "$all stacks, $broken broken, $named through the methods"
[ "$all" -ge 50 ] || skip "only $all samples"
[ $((broken * 100)) -le $((all * 5)) ] || { head -n 5 folded | cut -c 1-300; fail 'broken stacks'; }
[ $((named * 2)) -ge "$all" ] || { head -n 5 folded | cut -c 1-300; fail 'methods have no names'; }

# One that has ended cannot be asked any more, which is said.
cat >Short.java <<'END_J'
public class Short {
	static long sink;
	public static void main(String[] a) {
		long end = System.nanoTime() + 700_000_000L;
		while (System.nanoTime() < end) for (int i = 0; i < 1000; i++) sink += i * sink % 7;
	}
}
END_J
javac Short.java
precord -q -e cpu-clock:u -F 499 -o short.trace --jvm-perfmap -- java Short 2>err.txt || { cat err.txt; fail 'cannot record'; }
grep -q 'has ended: a perf map cannot be requested from it' err.txt || { cat err.txt; fail 'nothing is said of a machine that has ended'; }

# A program that is no such machine is left alone: SIGQUIT would end it.
ahead sleep 100 & sleeper=$!
precord -q -e cpu-clock:u -F 99 -o sleep.trace --jvm-perfmap --duration 0.3 -p $sleeper 2>err.txt || { cat err.txt; fail 'a program that is not Java'; }
kill -0 $sleeper || fail 'the program is gone'
kill $sleeper
exit 0
