#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of a cold javac, without any option, beside what HotSpot says itself at the same instruction (tests/e2e/runtime_java_agct.sh), for
# each JDK that is here; then the control group: the same by a recorder that comes 0.2, 0.6 and 2 s late. One table.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/agct.bash"
need_recording
need_agct
command -v mvn >/dev/null || skip 'there is no Maven to fetch sources with'

mvn -q dependency:copy -Dartifact=org.apache.commons:commons-lang3:3.14.0:jar:sources -DoutputDirectory=. >mvn.log 2>&1 ||
	skip "no sources can be fetched: $(head -n 1 mvn.log)"
mkdir -p sources && (cd sources && jar xf ../commons-lang3-3.14.0-sources.jar) && find sources -name '*.java' >files
cc -O1 -shared -fPIC "$TOP/tests/programs/late_drain.c" -o late_drain.so || fail 'cannot build what comes late'

percent() { awk -v part="$1" -v all="$2" 'BEGIN { if (all) printf "%.2f %%", 100 * part / all; else printf "-" }'; }

try() { # try JAVA LATE_MS
	local version
	version=$("$1" -version 2>&1 | awk -F'[".]' 'NR == 1 { print $2 }')
	LATE_MS=$2 LD_PRELOAD=${2:+$PWD/late_drain.so} AGCT_RING=64M agct "$1" -m jdk.compiler/com.sun.tools.javac.Main -nowarn -encoding UTF-8 -d out @files
	sed '$d' agct.out
	printf '%-4s %7s %8s %9s %9s %9s %9s %9s %9s\n' "$version" "${2:-0} ms" "$compared" "$(percent "$rooted" "$all")" "$(percent "$named" "$frames")" \
		"$(percent "$equal" "$compared")" "$(percent $((equal + explained)) "$compared")" "$(percent "$caller_lines" "$callers")" \
		"$(percent "$leaf_lines" "$leaves")" >>table
}

printf '%-4s %7s %8s %9s %9s %9s %9s %9s %9s\n' JDK late compared rooted named equal explained callers leaves >table
for java in $( (command -v java; ls -d /usr/lib/jvm/*/bin/java) 2>/dev/null | xargs -rn 1 readlink -f | sort -u); do
	"$java" --list-modules | grep -q '^jdk.compiler' || continue
	try "$java" ''
	tried=1
	[ $(((equal + explained) * 100)) -ge $((compared * 95)) ] || fail "$java: stacks are not what the machine says"
done
[ "${tried-}" ] || skip 'no Java here has a compiler'
for late in 200 600 2000; do
	try "$(readlink -f "$(command -v java)")" $late
done
cat table
exit 0
