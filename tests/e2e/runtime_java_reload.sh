#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java classes that are loaded, run for a tenth of a second and are unloaded, so that the next one's methods take their place in
# memory: no sample has the name of a class that did not run at its time. The program says when each ran.
# slow: a virtual machine, four times
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for Java's code are x86-64's"
[ "$(id -u)" = 0 ] || skip "only root may read other processes' memory for sure"
command -v javac >/dev/null || skip 'there is no javac here'
command -v python3 >/dev/null || skip 'there is no python3 here'

cat >GenAAAA.java <<'END_J'
public class GenAAAA implements java.util.function.LongUnaryOperator {
	long stepAAAA(long n) { long s = n; for (int i = 0; i < 300; i++) s = s * 31 + (s ^ i) % 7; return s; }
	long middleAAAA(long n) { return stepAAAA(n) + stepAAAA(n + 1); }
	public long applyAsLong(long n) { long s = 0; for (int i = 0; i < 50; i++) s += middleAAAA(n + i); return s; }
}
END_J
cat >Reload.java <<'END_J'
import java.nio.file.*;
import java.util.function.LongUnaryOperator;
public class Reload {
	static long sink;
	static class Loader extends ClassLoader {
		Class<?> define(String name, byte[] bytes) { return defineClass(name, bytes, 0, bytes.length); }
	}
	static byte[] renamed(byte[] template, String name) {
		byte[] b = template.clone();
		for (int i = 0; i + 4 <= b.length; i++)
			if (b[i] == 'A' && b[i + 1] == 'A' && b[i + 2] == 'A' && b[i + 3] == 'A')
				for (int j = 0; j < 4; j++) b[i + j] = (byte) name.charAt(j);
		return b;
	}
	static void run(byte[] template, String name, long ns) throws Exception {
		long begin = System.nanoTime();
		LongUnaryOperator op = (LongUnaryOperator) new Loader().define("Gen" + name, renamed(template, name)).getDeclaredConstructor().newInstance();
		while (System.nanoTime() - begin < ns) sink += op.applyAsLong(sink);
		System.out.println(name + " " + begin + " " + System.nanoTime());
	}
	public static void main(String[] a) throws Exception {
		byte[] template = Files.readAllBytes(Paths.get("GenAAAA.class"));
		for (int i = 0; i < 40; i++) { run(template, String.format("%04d", i), 100_000_000L); System.gc(); }
	}
}
END_J
javac --release 11 GenAAAA.java Reload.java >javac.log 2>&1 || skip "javac does not work: $(head -n 1 javac.log)"

try() { # try JAVA [OPTION]
	local java=$1 right wrong
	shift
	precord -q -e cpu-clock:u -F 499 -o reload.trace -- "$java" -Xmx64m "$@" Reload >times 2>err.txt || { cat err.txt; fail 'cannot record'; }
	preport -i reload.trace export --to perf-script >script.txt 2>/dev/null || fail 'cannot export'
	python3 "$TOP/tests/e2e/lib/names_in_time.py" times script.txt '(?:step|middle|Gen)([0-9]{4})' >score || fail 'cannot compare'
	read -r right wrong < <(tail -n 1 score)
	echo "$java $*: $right right, $wrong wrong"
	[ "$wrong" = 0 ] || { head -n 5 score; fail 'samples have the name of a class that did not run at their time'; }
	all=$((all + right))
}

all=0
for java in $( (command -v java; ls -d /usr/lib/jvm/*/bin/java) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	try "$java"
	try "$java" -XX:+UseSerialGC -XX:-UsePerfData
done
# Names are left out where they are not certain, which is not always.
[ "$all" -ge 100 ] || skip "only $all samples have a name"
exit 0
