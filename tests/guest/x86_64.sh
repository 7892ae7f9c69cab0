#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Software events on x86-64 kernels that this machine does not run: processes and the system by the clock, stacks through
# a C library and down to the root, tracepoints, counts, and what is said where there is no PMU.
set -eu
GUEST_ARCH=x86_64 . "$TOP/tests/guest/lib/guest.bash"
need_kernel "${GUEST_KERNEL:-6.1}"
add_program "$BUILD/precord"
build_program work -fno-omit-frame-pointer
run_guest --icount <<'EOF' || { cat console; fail 'the guest cannot record'; }
precord -F 1997 -o /out/process.trace -- work 3000 >/out/said 2>&1
precord -q -g fp -F 1997 -o /out/fp.trace -- work 1000
precord -q -a -F 997 -o /out/system.trace -- work 1000
precord -q -a -e sched:sched_process_exec -c 1 -o /out/exec.trace -- work 10
precord stat --format=csv -e task-clock,page-faults,cycles -- work 100 >/out/stat 2>&1
precord -q -e page-faults -c 1 -o /out/faults.trace -- work 10
precord --topdown -o /out/t.trace -- work 10 >/out/topdown 2>&1 || echo "status $?" >>/out/topdown
precord list hardware >/out/list 2>&1
uname -r >/out/release
EOF
echo "Linux $(cat out/release), x86-64"

expect() { # expect WORDS FILE
	grep -qF -- "$1" "out/$2" || { cat "out/$2"; fail "'$1' is not said"; }
}
expect 'no hardware counter for cycles here: sampling by cpu-clock, a timer, instead' said
expect 'this machine has none' topdown
expect 'status 1' topdown
expect 'cycles,,' stat
expect 'not supported' stat
grep -q '^,,page-faults,[1-9]' out/stat && grep -q '^,,task-clock,[1-9]' out/stat || { cat out/stat; fail 'counts of software events'; }

check_shares() { # check_shares TRACE LEAST CALLERS: 3 parts of 4 are heavy's, below its callers
	preport -i "out/$1.trace" folded >folded
	awk -v least="$2" -v callers="$3" '
		{ n = $NF; sub(/ [0-9]*$/, ""); all += n }
		$0 ~ ";main;" callers "heavy(;|$)" { heavy += n }
		/;main;(outer;)?light(;|$)/ { light += n }
		END {
			print all, heavy, light
			exit all < least || heavy + light < 0.9 * all || heavy < 0.68 * (heavy + light) || heavy > 0.82 * (heavy + light)
		}' folded || { cat folded; fail "shares in $1.trace"; }
}
check_shares process 150e6 'outer;middle;'
check_shares fp 50e6 'outer;(middle;)?' # compilers give a leaf no frame: its caller is not in the chain
preport -i out/process.trace info >info
awk '/^Lost/ && $NF != 0 { print; bad = 1 } / complete$/ { complete = $2 + 0 } END { exit bad || complete < 98 }' info || {
	cat info
	fail 'stacks that do not reach their root'
}
preport -i out/system.trace --by process --limit 3 | grep -q work || fail 'the whole system has no work'
preport -i out/system.trace folded | grep -q '\[kernel\]\|_\[k\]\|do_\|entry_' || fail 'the whole system has no kernel'
preport -i out/exec.trace --by process | grep -q work || fail 'exec of work was not seen by its tracepoint'
preport -i out/faults.trace --by leaf | grep -q 'ld-linux\|work\|kernel' || fail 'page faults have no place'
