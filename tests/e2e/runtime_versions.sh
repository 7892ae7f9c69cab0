#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Of runtimes that are newer than all that precord knows it says so, with the versions that are read, and the native stack stays.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "runtimes are read on x86-64"
source=$TOP/tests/programs/unknown_runtime.c
${CC:-cc} -O1 -o program "$source" -ldl && ${CC:-cc} -O1 -DV8 -o node "$source" -ldl &&
	${CC:-cc} -O1 -shared -fPIC -DJVM -o libjvm.so "$source" && ${CC:-cc} -O1 -shared -fPIC -DDOTNET -o libcoreclr.so "$source" ||
	fail 'cannot build the programs'

try() { # try WORDS COMMAND...
	local words=$1
	shift
	precord -e cpu-clock:u -F 499 -o new.trace -- "$@" >out.txt 2>err.txt || { cat err.txt; fail "cannot record $*"; }
	grep -qF "$words" err.txt || { cat err.txt; fail "nothing is said of $*"; }
	preport -i new.trace folded 2>/dev/null | grep -qE 'main;\[.*\] [0-9]+$' || { preport -i new.trace folded | head -n 5; fail "$*: native stacks"; }
}

try 'JDK 30 is newer than this precord knows; 9 to 26 are read' ./program ./libjvm.so
try 'V8 30.1 is newer than this precord knows; ' ./node
try '.NET 30.0 is newer than this precord knows; ' ./program ./libcoreclr.so
exit 0
