#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Virtual threads of Java (21 and later): stacks reach the root of the thread that carries them, and say where callers lie frozen in the heap.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for Java's code are x86-64's"
command -v javac >/dev/null || skip 'there is no javac here'

cat >Virtual.java <<'END_J'
public class Virtual {
	static volatile long sink;
	static long busy(int n) { long s = 1; for (int i = 0; i < n; i++) s = (s * 31 + i) % 65521; return s; }
	static long deep(int d) { return d == 0 ? pause() : deep(d - 1) + 1; }
	static long pause() {
		try { Thread.sleep(1); } catch (InterruptedException e) { }
		return busy(400000); // its callers stay in the heap until it returns to them
	}
	static void task() { for (;;) sink += deep(6); }
	public static void main(String[] a) throws Exception {
		for (int i = 0; i < 4; i++)
			Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Virtual::task);
		Thread.sleep(120000);
	}
}
END_J
javac --release 11 Virtual.java >javac.log 2>&1 || skip "javac does not work: $(head -n 1 javac.log)"
trap 'kill $victim 2>/dev/null' EXIT

try() { # try JAVA
	local all busy rooted frozen
	"$1" -cp . Virtual & victim=$!
	runs $victim java
	burn 300 $victim
	record_burning 400 $victim virtual.trace -e cpu-clock:u -F 999 2>err.txt || { cat err.txt; fail 'cannot record'; }
	kill $victim
	wait $victim 2>/dev/null
	preport -i virtual.trace folded --samples 2>/dev/null >folded
	awk '{ all += $NF } /Virtual.busy/ { busy += $NF } /;start_thread;.*Continuation.run;.*Virtual.busy/ { rooted += $NF }
		/Continuation.run;.*;\[frozen\];Virtual.*busy/ { frozen += $NF } END { print all + 0, busy + 0, rooted + 0, frozen + 0 }' folded >counts
	read -r all busy rooted frozen <counts
	echo "$("$1" -version 2>&1 | head -n 1): $all stacks, $busy busy, $rooted of them rooted, $frozen say what is frozen"
	[ "$busy" -ge 50 ] || { echo "only $busy samples"; return; }
	tried=1
	[ $((rooted * 100)) -ge $((busy * 80)) ] || { head -n 5 folded | cut -c 1-500; fail "$1: stacks without their root"; }
	[ $((frozen * 100)) -ge $((rooted * 80)) ] || { head -n 5 folded | cut -c 1-500; fail "$1: stacks that hide what is frozen"; }
}

tried=
for java in $( (command -v java; ls -d /usr/lib/jvm/*/bin/java; printf '%s\n' ${JAVAS:-}) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	case $("$java" -version 2>&1 | awk -F'[".]' 'NR == 1 { print $2 }') in 21 | 25) try "$java" ;; esac
done
[ "$tried" ] || skip 'no Java here has virtual threads and could be sampled'
exit 0
