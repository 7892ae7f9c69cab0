#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every kind of target records what it says, threads and children included, and nothing else.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide

cat >spin.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void *spin(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;)
		;
}
/* spin NAME: a thread NAME-t that was there before, a child NAME-c and a thread NAME-l that come later */
int main(int argc, char **argv)
{
	static char early[16], late[16], child[16];
	pthread_t thread;
	(void)argc;
	strcat(strcpy(early, argv[1]), "-t");
	strcat(strcpy(late, argv[1]), "-l");
	strcat(strcpy(child, argv[1]), "-c");
	prctl(PR_SET_NAME, argv[1]);
	alarm(atoi(argv[2]));
	pthread_create(&thread, NULL, spin, early);
	usleep(700000);
	pthread_create(&thread, NULL, spin, late);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(atoi(argv[2]));
		spin(child);
	}
	spin(argv[1]);
}
END
$CC -O1 -o spin spin.c -lpthread || fail "cannot compile"

comms() { preport -i "$1" --by thread --limit 1000 --format=csv 2>/dev/null | columns thread | sort -u; }
has() { # has FILE NAME...
	local file=$1 found
	shift
	found=" $(comms "$file" | tr '\n' ' ')"
	for name; do [[ $found == *" $name "* ]] || fail "$file: no samples of $name among$found"; done
}
lacks() {
	local file=$1 found
	shift
	found=" $(comms "$file" | tr '\n' ' ')"
	for name; do [[ $found != *" $name "* ]] || fail "$file: samples of $name among$found"; done
}

rate='-F 499'

# cpu_time NAME...: what the threads of each name have had of the CPUs by now, in ms
cpu_time() {
	local name
	for name; do
		echo "$name $(cat /dev/null $(grep -slx "$name" /proc/[0-9]*/task/*/comm | sed 's/comm$/schedstat/') 2>/dev/null |
			awk '{ ns += $1 } END { printf "%d", ns / 1e6 }')"
	done
}

# sampled FILE "TARGET..." NAME...: record until each of NAME has had 200 ms of a CPU meanwhile: how long that
# takes is the scheduler's to say, on a busy machine many seconds. The status is precord's.
sampled() {
	local file=$1 target=$2 recorder before
	shift 2
	# bash lets what it puts into the background ignore the interrupt that is to end it.
	env --default-signal=INT precord -q $rate -o "$file" $target & recorder=$!
	until ls -l /proc/$recorder/fd 2>/dev/null | grep -q perf_event; do
		[ -e /proc/$recorder ] || break
		sleep 0.1
	done
	before=$(cpu_time "$@")
	for _ in $(seq 900); do
		sleep 0.1
		paste -d ' ' <(echo "$before") <(cpu_time "$@") | awk '$4 - $2 < 200 { exit 1 }' && break
		[ -e /proc/$recorder ] || break
	done
	kill -INT $recorder 2>/dev/null
	wait $recorder
}

./spin other 3000 & other=$!
trap 'kill $other' EXIT

# With a command the interrupt is its end, too.
sampled command.trace '-- ./spin own 300' own own-t own-l own-c
status=$?
[ $status = $((128 + 2)) ] || fail "a command: status $status"
has command.trace own own-t own-l own-c
lacks command.trace other other-t

./spin tgt 1000 & target=$!
runs $target tgt
sampled pid.trace "-p $target" tgt tgt-t tgt-l tgt-c || fail "-p: status $?"
has pid.trace tgt tgt-t tgt-l tgt-c
lacks pid.trace other other-t

tid=$(grep -l tgt-t /proc/$target/task/*/comm | cut -d/ -f5)
sampled tid.trace "-t $tid" tgt-t || fail "-t: status $?"
has tid.trace tgt-t
lacks tid.trace tgt tgt-l tgt-c other
kill $target

sampled all.trace -a other other-t other-l other-c || fail "-a: status $?"
has all.trace other other-t other-l other-c

# On one CPU only: what runs there is seen, its mappings too, although it began elsewhere.
allowed=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
cpu=${allowed%%[-,]*} elsewhere=${allowed##*[-,]}
taskset -c $cpu ./spin pinned 300 & pinned=$!
sampled cpu.trace "-C $cpu" pinned pinned-t || fail "-C $cpu: status $?"
kill $pinned
[ "$(preport -i cpu.trace --by cpu --limit 100 --format=csv 2>/dev/null | columns cpu)" = $cpu ] ||
	fail "-C $cpu: $(preport -i cpu.trace --by cpu --format=csv)"
if [ "$cpu" != "$elsewhere" ]; then
	taskset -c $elsewhere ./spin mover 300 & mover=$!
	runs $mover mover
	precord -q $rate -o move.trace -C $cpu & recorder=$!
	begun $recorder move.trace
	sleep 0.2
	for task in /proc/$mover/task/*; do taskset -p -c $cpu "${task##*/}" >/dev/null; done
	burn 500 $mover
	kill -TERM $recorder
	wait $recorder
	kill $mover
	preport -i move.trace --comm 'mover*' --by module --format=csv 2>/dev/null | grep -q spin ||
		fail "-C $cpu: a process that moved there has no mappings"
fi

if [ "$(id -u)" = 0 ]; then
	install -m 755 spin /tmp/spin.$$ && chmod 755 /tmp/spin.$$
	setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/spin.$$ user 600 & user=$!
	runs $user user
	sampled user.trace '-u 65534' user user-t || fail "-u: status $?"
	kill $user
	rm -f /tmp/spin.$$
	has user.trace user user-t
	lacks user.trace other
fi
cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$cgroup" ] && [ -w $cgroup/cgroup.procs ] && mkdir $cgroup/precord-test.$$ 2>/dev/null; then
	sh -c "echo \$\$ >$cgroup/precord-test.$$/cgroup.procs; exec ./spin grp 600" & member=$!
	runs $member grp
	sampled cgroup.trace "-G /precord-test.$$" grp grp-t 2>err.txt
	status=$?
	pkill -P $member
	kill $member
	sleep 0.2
	rmdir $cgroup/precord-test.$$
	[ $status = 0 ] || { cat err.txt; fail "-G: $status"; }
	has cgroup.trace grp grp-t
	# The kernel lets a cgroup's events in while it still switches away from the task before:
	# a sample or two. Without the cgroup they would be half of all.
	beyond=$(preport -i cgroup.trace --by thread --limit 1000 --format=csv 2>/dev/null | columns thread share | awk '/^other/ && $NF > 0.05')
	[ -z "$beyond" ] || fail "cgroup.trace: $beyond"
fi

# Processes that are much shorter than the sampling period take as much time as they take.
TIMEFORMAT='%3U %3S'
# At this rate they are some hundred samples, whose number is not off by a third even once in 10^7 times.
precord -q -e cpu-clock -F 249 -o short.trace -- bash -c '
	TIMEFORMAT="%3U %3S"
	time for i in $(seq 1500); do /bin/true; done' 2>time.txt
true=$(awk '/^[0-9.]+ [0-9.]+$/ { print $1 + $2 }' time.txt)
seen=$(preport -i short.trace --by module --limit 1000 --format=csv 2>/dev/null | columns weight | awk '{ s += $1 } END { print s / 1e9 }')
echo "short processes: $true s, sampled $seen s"
awk -v t="$true" -v s="$seen" 'BEGIN { exit !(s > 0.6 * t && s < 1.6 * t) }' || fail "$seen s were sampled of $true s"
exit 0
