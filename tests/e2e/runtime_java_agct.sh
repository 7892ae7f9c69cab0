#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java's stacks, one by one, are what HotSpot says itself at the same instruction: methods, inlined ones too, their order and lines.
# tests/oracles/java_agct.sh does the same with javac, for each Java that is here, and with a recorder that reads late.
# slow: a virtual machine has to warm up
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/agct.bash"
need_recording
need_agct

cat >Work.java <<'END_J'
import java.util.*;
public class Work {
	static long sink;
	static long fib(int n) {
		if (n < 2)
			return n;
		return fib(n - 1)
			+ fib(n - 2);
	}
	interface Shape { long area(long n); }
	record Square(long side) implements Shape { public long area(long n) { return side * side + n % 7; } }
	record Circle(long r) implements Shape { public long area(long n) { return r * r * 3 + n % 5; } }
	static long shapes(Shape[] all) {
		long sum = 0;
		for (Shape s : all)
			sum += s.area(sum);
		return sum;
	}
	static long sorted(int n) {
		List<Long> list = new ArrayList<>();
		for (long i = 0; i < n; i++)
			list.add((i * 2654435761L) % 1000);
		list.sort((a, b) -> Long.compare(b, a));
		return list.get(0);
	}
	static void outer(Shape[] all) { sink += fib(15); sink += shapes(all); sink += sorted(200); }
	public static void main(String[] a) {
		Shape[] all = new Shape[500];
		for (int i = 0; i < all.length; i++)
			all[i] = i % 3 == 0 ? new Circle(i) : new Square(i);
		// So much CPU time, not so much time: the clock of the agent counts the same.
		var self = java.lang.management.ManagementFactory.getThreadMXBean();
		while (self.getCurrentThreadCpuTime() < 2_500_000_000L) outer(all);
	}
}
END_J
javac Work.java >javac.log 2>&1 || skip "javac does not work: $(head -n 1 javac.log)"
agct java -cp . Work
cat agct.out
[ "$compared" -ge 50 ] || skip "only $compared stacks could be compared"
[ $(((equal + explained) * 100)) -ge $((compared * 95)) ] || fail 'stacks are not what the machine says'
[ $((caller_lines * 100)) -ge $((callers * 99)) ] || fail "callers' lines are not what the machine says"
[ $((leaf_lines * 100)) -ge $((leaves * 97)) ] || fail "leaves' lines are not what the machine says"
[ $((rooted * 100)) -ge $((all * 98)) ] || fail 'stacks are broken'
[ $((named * 1000)) -ge $((frames * 990)) ] || fail 'frames have no names'
exit 0
