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

# ahead COMMAND... & : before all else that runs here, where that is allowed. What a test samples for a set time
# must run in that time, and a machine that others keep busy gives it next to nothing.
ahead() {
	nice -n -20 true 2>nice.err && [ ! -s nice.err ] && exec nice -n -20 "$@"
	exec "$@"
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
