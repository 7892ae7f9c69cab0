#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java as it is started everywhere, without any option: stacks through compiled and interpreted methods are whole, and methods,
# inlined ones too, have names and lines. Each Java that is here is tried.
# slow: each virtual machine has to warm up, twice
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for Java's code are x86-64's"
command -v javac >/dev/null || skip 'there is no javac here'

cat >Work.java <<'END_J'
public class Work {
	static long sink;
	static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	static long inlined(long n) {
		long sum = 0;
		for (int i = 0; i < 2000; i++)
			sum += (n ^ i) * 31 % 7; // line 7
		return sum;
	}
	static final String[] names = new String[64];
	static long compared() { // an intrinsic, which pushes a register
		long sum = 0;
		for (int i = 0; i < 2000; i++)
			sum += names[i & 63].compareTo(names[(i + 7) & 63]);
		return sum;
	}
	static final byte[] bytes = new byte[2000];
	static java.security.MessageDigest digest() throws Exception { // each thread needs its own
		boolean hasStub = System.getProperty("java.vm.info").contains("mixed");
		return hasStub ? java.security.MessageDigest.getInstance("SHA-512") : null;
	}
	static long hashed(java.security.MessageDigest sha) { return sha == null ? 0 : sha.digest(bytes)[0]; } // a stub that uses the frame pointer, in an aligned frame
	static void outer(java.security.MessageDigest sha) { sink += fib(15); sink += inlined(sink); sink += compared(); sink += hashed(sha); }
	public static void main(String[] a) throws Exception {
		java.security.MessageDigest own = digest(), workers = digest();
		for (int i = 0; i < 64; i++)
			names[i] = "the same beginning, and then " + i;
		long end = System.nanoTime() + 120_000_000_000L;
		Thread worker = new Thread(() -> { while (System.nanoTime() < end) outer(workers); }, "order-processing-worker-eu-1");
		worker.setDaemon(true);
		worker.start();
		while (System.nanoTime() < end) outer(own);
	}
}
END_J
javac --release 11 Work.java >javac.log 2>&1 || skip "javac does not work: $(head -n 1 javac.log)"
trap 'kill $victim 2>/dev/null' EXIT

without_reasons() {
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;\[[^]]*\]/, ";[]"); sum[$0] += n } END { for (s in sum) print s, sum[s] }' | sort
}

try() { # try JAVA [OPTION]
	local java=$1 all broken named lines version
	version=$("$java" -version 2>&1 | awk -F'[".]' 'NR == 1 { print $2 }')
	case $version in 11 | 17 | 21 | 25) ;; *) echo "$java is none of those that precord(1) names"; return ;; esac
	"$java" ${2:+"$2"} -cp . Work & victim=$!
	runs $victim java
	burn 1500 $victim
	record_burning 1500 $victim java.trace -e cpu-clock:u -F 499 2>err.txt || { cat err.txt; fail 'cannot record'; }
	kill $victim
	wait $victim 2>/dev/null
	preport -i java.trace folded --samples 2>/dev/null >folded
	awk '{ all += $NF } /^[^;]*;\[/ { broken += $NF } /;Work.(main|lambda[^;]*|[$][^;]*);.*Work.outer.*Work.(fib|inlined|compared)/ { named += $NF } END { print all + 0, broken + 0, named + 0 }' folded >counts
	read -r all broken named <counts
	lines=$(preport -i java.trace --by line 2>/dev/null | grep -c 'Work.java:[37] ')
	echo "JDK $version ${2:-}: $all stacks, $broken broken, $named through the methods, $lines lines"
	[ "$all" -ge 50 ] || { echo "only $all samples"; return; }
	tried=1
	[ $((broken * 100)) -le $((all * 2)) ] || { head -n 5 folded | cut -c 1-300; fail "JDK $version: broken stacks"; }
	[ $((named * 2)) -ge "$all" ] || { head -n 5 folded | cut -c 1-300; fail "JDK $version: methods have no names"; }
	[ "$lines" -ge 1 ] || { preport -i java.trace --by line; fail "JDK $version: no lines"; }
	preport -i java.trace --by thread 2>/dev/null >threads
	grep -q ' order-processing-worker-eu-1 ' threads && grep -q ' main ' threads || { cat threads; fail "JDK $version: threads have not their names in Java"; }
	preport -i java.trace --by thread --comm order-processin 2>/dev/null | grep -q ' order-processing-worker-eu-1 ' || fail "JDK $version: the kernel's name finds no thread"
	preport strip --stacks -i java.trace -o stripped.trace 2>/dev/null || fail 'cannot strip'
	# Why a stack is incomplete is not kept, but that it is.
	preport -i stripped.trace folded --samples 2>/dev/null | without_reasons >stripped
	without_reasons <folded | diff stripped - >differ ||
		{ cut -c 1-300 differ | head -n 6; fail "JDK $version: strip changes stacks"; }
}

tried=
for java in $( (command -v java; ls -d /usr/lib/jvm/*/bin/java "${JAVA_HOME:-/nowhere}/bin/java") 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	try "$java"
	try "$java" -Xint # all is interpreted
done
[ "$tried" ] || skip 'no Java here could be sampled'
exit 0
