# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# retry.bash - run a test runner, and what failed once more, alone: sourced by run, guest/run and .ci/run.
#
# A test that fails and then passes alone, at the second or third attempt, counts as passed, but stands in the list of
# unsteady tests, with what it printed when it failed. $UNSTEADY names the file that collects this list; whoever is the
# outermost to use it prints it as its last lines (retry_unsteady).

RETRY_ATTEMPTS=2
RETRY_MOST=12 # a tree that is broken is not tried again test by test

retry_begin() { # the outermost sets $UNSTEADY; others add to its file
	retry_owner=
	[ -n "${UNSTEADY-}" ] && return
	UNSTEADY=$(mktemp) || exit 1
	export UNSTEADY
	retry_owner=1
}

# What FAIL lines name, in order.
retry_failed() { # retry_failed LOG
	sed -n 's/^FAIL \([^ ]*\).*/\1/p' "$1" | sed 's/:$//'
}

# The test's own lines, from its FAIL line to the next verdict; a unit test says where before it says FAIL.
retry_words_of() { # retry_words_of NAME LOG
	LC_ALL=C awk -v name="$1" '
	/^(ok|FAIL|skip) / { if ($2 == name || $2 == name ":") { printf "%s%s\n", notes, $0; on = 1 } else on = 0; notes = ""; next }
	/^#/ { notes = notes $0 "\n"; next }
	/^\| / && on { print }' "$2" | head -n 70
}

# retry_run LOG AGAIN COMMAND...: run COMMAND, whose last line counts, then "AGAIN NAME" for each name that failed.
# Sets $retry_counts to "PASSED FAILED SKIPPED", empty if COMMAND ended before it could count; LOG is left with what
# is still wrong. AGAIN is a function; "" if nothing can be run alone.
retry_run() {
	local log=$1 again=$2 status counts names name attempt
	shift 2
	"$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	counts=$(tail -n 1 "$log" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	retry_counts=$counts
	[ -n "$counts" ] && [ "$status" != 0 ] && [ -n "$again" ] || return "$status"
	mapfile -t names < <(retry_failed "$log")
	[ ${#names[@]} -gt 0 ] && [ ${#names[@]} -le $RETRY_MOST ] || return "$status"
	set -- $counts
	for name in "${names[@]}"; do
		for ((attempt = 2; attempt <= 1 + RETRY_ATTEMPTS; attempt++)); do
			echo "-- again, alone: $name"
			"$again" "$name" >"$log.again" 2>&1 || { cat "$log.again"; continue; }
			tail -n 1 "$log.again" | grep -q '^0 passed' && continue # nothing of that name ran
			{ echo "unsteady: $name passed at attempt $attempt"; retry_words_of "$name" "$log" | sed 's/^/  /'; } |
				tee -a "$UNSTEADY"
			set -- $(($1 + 1)) $(($2 - 1)) "$3"
			LC_ALL=C sed -i "s|^FAIL $name\>|unsteady $name|" "$log"
			break
		done
	done
	rm -f "$log.again"
	retry_counts="$1 $2 $3"
	[ "$2" = 0 ]
}

# The list, if there is one and it is ours to show.
retry_unsteady() {
	[ -n "$retry_owner" ] || return 0
	if [ -s "$UNSTEADY" ]; then
		echo '== unsteady: failed, and passed when run again alone'
		cat "$UNSTEADY"
	fi
	rm -f "$UNSTEADY"
}
