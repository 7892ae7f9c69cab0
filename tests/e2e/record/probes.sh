#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Probes hit as often as the code runs and carry what the registers held; nothing is left behind, also after SIGKILL.
# slow: uprobes are opened and closed one after another, those of a marker at 70 places too
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
case $(uname -m) in x86_64) ;; *) skip "the program's markers are written for x86-64" ;; esac
${CC:-cc} -O1 -g -no-pie -o usdt "$TOP/tests/programs/usdt.c" || fail "building the program"

# What does not depend on the kernel: names, arguments, the list of markers.
precord list usdt -x ./usdt --format=csv >list.csv || fail "the list of markers"
grep -qF '"usdt:./usdt:demo:tick",1,"8@%rdi -4@$-5 8@(%rsp)"' list.csv || { cat list.csv; fail "the marker is not listed"; }
refuses() { # refuses EVENT MESSAGE
	precord -e "$1" -o no.trace -- true 2>err.txt && fail "'$1' is taken"
	grep -qF -- "$2" err.txt || { cat err.txt; fail "'$1' is refused without '$2'"; }
}
refuses uprobe:./usdt:stepp "did you mean 'step'?"
refuses uprobe:./usdt "does not name a place in a file"
refuses 'uprobe:./usdt:step n=%zz' "'%zz' is not a register"
refuses 'uprobe:./usdt:step n=%di:u7' "is not a type"
refuses usdt:./usdt:tack "'precord list usdt -x"
refuses usdt:no-such-program:x "is called 'no-such-program'"
[ -d /sys/bus/event_source/devices/kprobe ] || refuses kprobe:do_exit "this kernel has no PMU 'kprobe'"

# Files of a process are looked up below its root: a link that somebody puts there does not lead to a file outside.
cat >jailed.c <<'END_C'
#include <unistd.h>
#ifndef TIMES
#define TIMES 1
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
int main(int argc, char **argv)
{
	__asm__ volatile(".rept " TEXT(TIMES) "\n990: nop\n"
			 ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 8,994f-993f,3\n.asciz \"stapsdt\"\n"
			 "993: .8byte 990b\n.8byte 0\n.8byte 0\n.asciz \"demo\"\n.asciz \"tock\"\n.asciz \"8@[sp, 12] 4@$7\"\n"
			 "994: .balign 4\n.popsection\n.endr");
	return argc > 1 ? pause() : 0;
}
END_C
if [ "$(id -u)" = 0 ] && ${CC:-cc} -O1 -static -o jailed jailed.c 2>/dev/null; then
	here=$(pwd -P)
	mkdir -p "jail/$here/jail" && cp jailed jail/program && cp jailed secret && ln -s "$here/secret" "jail/$here/jail/program"
	trap 'kill $jailed 2>/dev/null' EXIT
	chroot jail /program wait & jailed=$!
	for _ in $(seq 200); do [ "$(readlink /proc/$jailed/exe)" = "$here/jail/program" ] && break; sleep 0.05; done
	precord list usdt -p $jailed >jail.txt 2>err.txt && { cat jail.txt; fail "a link leads out of the root of a process"; }
	grep -qF 'no file of the process has USDT markers' err.txt || { cat err.txt; fail "a process whose files are links"; }
	kill $jailed
fi

[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no PMU 'uprobe'"
record() { # record TRACE OPTION...
	local trace=$1
	shift
	precord -q -o "$trace" "$@" -- ./usdt 2>err.txt && return
	grep -qE 'CAP_PERFMON|forbids' err.txt && skip "probes are refused here: $(head -1 err.txt)"
	cat err.txt
	fail "precord $*"
}
values() { # values TRACE EVENT FIELD: "COUNT VALUE ...", sorted
	preport -i "$1" -e "$2" --by "$3" --sort name --format=csv | awk -F, 'NR > 1 { printf "%s%s:%s", (NR > 2 ? " " : ""), $7, $5 }'
}
for mode in dwarf fp none; do
	record a.trace --call-graph=$mode -e 'uprobe:./usdt:step n=%di:u64 half=$arg1:s8' -e 'uretprobe:./usdt:step r=$retval:s32' -e usdt:./usdt:tick
	[ "$(values a.trace uprobe:* n)" = "0:1 1:1 2:1 3:1 4:1" ] || fail "$mode: n is $(values a.trace 'uprobe:*' n)"
	[ "$(values a.trace uretprobe:* r)" = "100:1 101:1 102:1 103:1 104:1" ] || fail "$mode: r is $(values a.trace 'uretprobe:*' r)"
	[ "$(values a.trace usdt:* arg1)" = "0:1 1:1 2:1 3:1 4:1" ] || fail "$mode: arg1 is $(values a.trace 'usdt:*' arg1)"
	[ "$(values a.trace usdt:* arg2)" = "-5:5" ] || fail "$mode: arg2 is $(values a.trace 'usdt:*' arg2)"
done
[ "$(preport -i a.trace -e 'uprobe:*' --where 'n > 2' --by n --format=csv | wc -l)" = 3 ] || fail "--where n > 2"
preport script -i a.trace -e 'uprobe:*' --no-chain >script.txt || fail "script"
grep -q ' n=4 half=4' script.txt || { cat script.txt; fail "script shows no arguments"; }
record b.trace -e 'uprobe:./usdt:step'
preport -i b.trace --by caller --format=csv | grep -q 'step,main,usdt$' || { preport -i b.trace --by caller; fail "the stack at the probe"; }

# A marker at more places than are opened, with an argument in memory that is two words, as on ARM.
${CC:-cc} -O1 -DTIMES=70 -o many jailed.c || fail "building the program of many places"
precord -e usdt:./many:tock -o many.trace -- ./many 2>err.txt || { cat err.txt; fail "a marker at 70 places"; }
grep -qF 'of 70 places of the marker the first 64 are probed' err.txt || { cat err.txt; fail "places that are left out are not said"; }
[ "$(values many.trace 'usdt:*' arg2 | tr " " "\n" | grep -cx 7:1)" = 64 ] || fail "arg2 of 64 places is $(values many.trace 'usdt:*' arg2)"

# Nothing is left in tracefs.
precord -q -e uprobe:./usdt:step -o c.trace -- sleep 60 2>/dev/null & recorder=$!
sleep 0.5
kill -KILL $recorder
wait $recorder 2>/dev/null
events=/sys/kernel/tracing/uprobe_events
[ ! -r $events ] || ! grep -q usdt $events || fail "uprobe_events still has a probe"
exit 0
