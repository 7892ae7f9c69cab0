# SPDX-License-Identifier: Apache-2.0
# Shared by the end-to-end tests that record. Sourced, not run.

skip() {
	echo "$1"
	exit 77
}

fail() {
	echo "FAILED: $1" >&2
	exit 1
}

# Leave with "skipped" where recording is not permitted at all; other failures are the tests' to find.
need_recording() {
	local limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null)
	[ "${limit:-5000}" -ge 5000 ] ||
		skip "the kernel has lowered its limit to $limit samples a second; raise perf_event_max_sample_rate"
	precord -q -F 99 -o try.trace -- true 2>try.err && return
	grep -qiE 'permitted|permission|paranoid|seccomp|not implemented' try.err && skip "recording is refused here: $(head -n 1 try.err)"
	cat try.err >&2
	fail "precord cannot record at all"
}

need_system_wide() {
	precord -q -a -F 99 -o try.trace -- true 2>try.err && return
	skip "recording the whole system is refused here: $(head -n 1 try.err)"
}

# Stacks of interpreters are read where events follow CPUs and the memory of other processes may be read.
need_interpreters() {
	[ "$(id -u)" = 0 ] || skip "only root may follow CPUs and read other processes' memory for sure"
	need_system_wide
	sleep 100 & local other=$! allowed=1
	head -c 8 /proc/$other/pagemap >/dev/null 2>&1 && head -c 1 /proc/$other/environ >/dev/null 2>&1 || allowed=
	kill $other
	[ "$allowed" ] || skip "reading the memory of other processes is refused here"
	grep -q '^Seccomp:.*2' /proc/self/status && skip "a sandbox may be in the way of reading other processes' memory"
	return 0
}

# ahead COMMAND... & : before all else that runs here, where that is allowed. What a test samples for a set time
# must run in that time, and a machine that others keep busy gives it next to nothing. It must rest in between, as
# "shares paced" does: two that never rest leave two CPUs' other programs, the tests' own among them, a hundredth.
ahead() {
	nice -n -20 true 2>nice.err && [ ! -s nice.err ] && exec nice -n -20 "$@"
	exec "$@"
}

# begun RECORDER FILE: wait until its FILE.part has a head, just before it enables its events, or it has ended
begun() {
	for _ in $(seq 1200); do
		[ -s "$2.part" ] && return
		case $(awk '{ print $3 }' /proc/"$1"/stat 2>/dev/null) in Z | '') return ;; esac
		sleep 0.05
	done
	fail "precord wrote no head of $2 in a minute"
}

# burned PID: the time that the threads of a process have had of the CPUs, in ms
burned() { cat /proc/"$1"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%d", ns / 1e6 }'; }

# burn MS PID: wait until a process has had that much more. To sleep for so long is no substitute: how much others
# leave it is the scheduler's to say, and a virtual machine may stand still for a second.
burn() {
	local enough=$(($(burned "$2") + $1))
	for _ in $(seq 2400); do
		[ "$(burned "$2")" -ge $enough ] && return
		sleep 0.05
	done
	fail "process $2 did not have $1 ms of a CPU in two minutes"
}

# record_burning MS PID FILE OPTION...: record a process until it has had so much; the status is precord's
record_burning() {
	local ms=$1 pid=$2 file=$3 recorder
	shift 3
	rm -f "$file"
	precord -q -o "$file" -p "$pid" "$@" & recorder=$!
	begun $recorder "$file"
	burn "$ms" "$pid"
	kill -TERM $recorder
	wait $recorder
}

# runs PID NAME: wait until a process that was just begun is this program, or has given itself this name
runs() {
	for _ in $(seq 1200); do
		[ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] && return
		sleep 0.05
	done
	fail "process $1 is not '$2' after a minute"
}

# CSV with commas inside cells made semicolons, as columns wants it.
plain_csv() {
	awk '{ line = ""; n = split($0, part, "\""); for (i = 1; i <= n; i++) {
		if (i % 2 == 0) gsub(/,/, ";", part[i]); line = line part[i] } print line }'
}

# columns NAME... <CSV: the columns with these names, tab-separated, without the header. Plain cells only.
columns() {
	tr -d '\r' | awk -F, -v OFS='\t' -v names="$*" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, name, " "); next }
		{ line = $at[name[1]]; for (i = 2; i <= n; i++) line = line OFS $at[name[i]]; print line }'
}

# few_stacks FILE: too few stacks of an interpreter are in the recording about which precord -v said what is in FILE. That is a
# reason to skip only where readers or the program had no CPU; otherwise reading does not work.
few_stacks() {
	cat "$1"
	awk '/interpreters: / { for (i = 2; i <= NF; i++) { if ($i == "late") late = $(i + 1) + 0; if ($i ~ /^samples/) n = $(i - 1) } }
		END { exit !(n > 0 && (n < 600 || late > n / 2)) }' "$1" || fail "stacks were not read, and not for want of CPU time"
	skip "the readers had no CPU time here"
}
