#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# A recorder that needs much of a CPU does not stand before everybody else: it gives its real-time priority up,
# says so, and loses samples rather than the machine. One that needs little keeps it, and so does one that was told to.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
precord -v -a -o try.trace -- true 2>&1 | grep -q 'priority: real-time' || skip "real-time priority is refused here"

# New numbers on the stack all the time, which --raw-stacks has to write, at a tenth of what the disk is spared for.
cat >noise.c <<'SRC'
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	volatile uint64_t noise[8000];
	uint64_t x = 88172645463325252u;
	(void)argc;
	for (int i = 1; i < atoi(argv[1]); i++)
		if (!fork())
			break;
	alarm(atoi(argv[2]));
	for (;;)
		for (int i = 0; i < 8000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			noise[i] = x;
		}
}
SRC
$CC -O1 -o noise noise.c || fail "cannot compile"
ticks=$(getconf CLK_TCK)

# running RECORDER: its command, unless that has ended and waits for somebody to say so to
running() {
	local child=$(pgrep -P "$1" -x noise)
	[ "$child" ] && grep -q '^State:.[RSD]' /proc/$child/status && echo $child
}

# watch NAME OPTION...: record; NAME.policies has "policy ms-of-CPU ms-of-time" for every tenth of a second
watch() {
	local name=$1 recorder start=
	shift
	precord -v -a -g dwarf -e cpu-clock -o $name.trace "$@" -- ./noise $(($(nproc) * 2)) 4 2>$name.err & recorder=$!
	: >$name.policies
	while sleep 0.1; do
		# While it samples, not while it begins or ends: the command ran before the look and after it.
		[ -e /proc/$recorder ] || break
		runs=$(running $recorder)
		[ -s $name.trace.part ] && [ "$runs" ] || continue
		read -r _ _ rest </proc/$recorder/stat || break
		set -- ${rest#*) }
		if [ "$(running $recorder)" ]; then
			now=$(($(date +%s%N) / 1000000)) used=$(((${12} + ${13}) * 1000 / ticks))
			[ "$start" ] || { start=$now; first=$used; }
			echo "${39} $((used - first)) $((now - start))" >>$name.policies
		fi
	done 2>/dev/null
	wait $recorder
	[ $? = 142 ] || { cat $name.err; fail "$name: precord did not pass on how the command died"; }
}

watch light -F 29 -g none
awk '$1 != 2 { exit 1 }' light.policies || { cat light.policies; fail "a recorder that needs little has no real-time priority"; }
grep -q 'gave up' light.err && { cat light.err; fail "a recorder that needs little gave its priority up"; }

if [ -z "$SAN" ]; then
	watch told -F 1999 --raw-stacks --max-size=1G --realtime=1
	awk '$1 != 2 { exit 1 }' told.policies || { cat told.policies; fail "--realtime=1 was not kept"; }
fi

watch heavy -F 3999 --raw-stacks --max-size=1G
# 0.6 s, and 30 % of a CPU; a second more for a pass that is under way and a look that comes late
awk '$1 == 2 && was == 2 { used += $2 - cpu; time += $3 - at }
	used > 600 + 0.3 * time + 1000 { exit 1 }
	{ was = $1; cpu = $2; at = $3 }' heavy.policies ||
	{ cat heavy.policies; fail "a recorder that needs much stays before everybody else"; }
awk '$1 != 2 { found = 1 } END { exit !found }' heavy.policies || skip "too fast a machine, or too busy a one, to make the recorder need 30 % of a CPU"
grep -q 'warning: the recorder needed more than 30 % of a CPU and gave up its real-time priority' heavy.err ||
	{ cat heavy.err; fail "the summary does not say that priority was given up"; }
grep -q 'priority: real-time, given up [1-9]' heavy.err || { cat heavy.err; fail "-v does not say that priority was given up"; }
preport -i heavy.trace info 2>/dev/null | grep -q 'gave up its real-time priority' || fail "the trace does not say that priority was given up"
exit 0
