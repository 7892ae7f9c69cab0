#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cycles sampled by an aarch64 PMU that counts exactly: shares, callers, stacks, the whole system, groups.
set -eu
. "$TOP/tests/guest/lib/guest.bash"
need_kernel "${GUEST_KERNEL:-6.1}"
add_program "$CROSS/precord"
build_program work
record() {
	run_guest --icount <<'EOF'
precord -q -c 97003 -o /out/process.trace -- work 500
precord -q -a -c 100000 -o /out/system.trace -- work 100
precord -q -a -e '{cycles,instructions}:S' -c 1000000 -o /out/group.trace -- work 500
EOF
}
record || { cat console; fail 'the guest cannot record'; }

# 41 M cycles: heavy has 3 parts of 4, and every stack of either has the same callers. The period keeps no step with
# the rounds of 80,000 instructions, but the tick does: so much of 3 in 4 as 400 random samples would allow.
check_process() {
	preport -i out/process.trace folded >folded
	awk -v OFS='\t' '
		{ weight = $NF; sub(/ [0-9]*$/, ""); all += weight }
		/^work;_start;__libc_start_main/ { rooted += weight }
		/;heavy/ { heavy += weight; good += weight * /;main;outer;middle;heavy(;|$)/ }
		/;light/ { light += weight; good += weight * /;main;outer;light(;|$)/ }
		END {
			print all, heavy, light, good
			if (all < 39e6 || all > 43e6) { print "cycles in all:", all; bad = 1 }
			if (good != heavy + light) { print "callers are wrong"; bad = 1 }
			if (heavy < 0.70 * (heavy + light) || heavy > 0.80 * (heavy + light)) { print "shares"; bad = 1 }
			if (heavy + light < 0.95 * all) { print "work is where it should not be"; bad = 1 }
			exit bad
		}' folded || { cat folded; fail 'a process sampled exactly'; }
	preport -i out/process.trace info >info
	awk '/^Lost|^Throttled|^Snapshots full/ && $NF != 0 { print; bad = 1 }
		/ complete$/ { complete = $2 + 0 } END { exit bad || complete < 99 }' info || {
		cat info
		fail 'fewer than 99 in 100 stacks reach their root, or something was lost'
	}
}

check_group() { # a cycle is an instruction here: in every sample of work's own loop they rise alike
	preport -i out/group.trace script --comm work --format=json | awk '
		{
			n += gsub(/"kind": "sample"/, "&")
			if (!match($0, /"event": "cycles", "value": [0-9]+/)) next
			cycles = substr($0, RSTART, RLENGTH); sub(/.* /, "", cycles)
			if (!match($0, /"event": "instructions", "value": [0-9]+/)) next
			instructions = substr($0, RSTART, RLENGTH); sub(/.* /, "", instructions)
			if (cycles == instructions) equal++
			if (/"event": "instructions", "period"/) sampled++
		}
		END {
			print n, "samples of a group,", equal, "with as many cycles as instructions"
			exit n < 38 || n > 43 || equal < n || sampled
		}' || fail 'a group that is read with every sample'
	# To the last digit, so this is what it says, whatever the machine.
	preport -i out/group.trace --by process --metric ipc --comm work --format=csv >ipc
	grep -Eq '^([^,]*,){6}1\.00[0-9]*,1\.00[0-9]*,1\.00[0-9]*,.*work' ipc || { cat ipc; fail 'instructions in a cycle'; }
}

check_process
preport -i out/system.trace --by process --limit 3 | grep -q work || fail 'the whole system has no work'
check_group
mv out first
record
for trace in first/*; do
	cmp "$trace" "out/${trace#first/}" || fail "two runs differ"
done
