#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kernel's limits on sampling: a rate above its limit, a rate at which it stops for a moment (throttling),
# what the PMU does not have.
set -eu
. "$TOP/tests/guest/lib/guest.bash"
need_kernel 6.1
add_program "$CROSS/precord"
build_program work
run_guest --icount <<'EOF' || { cat console; fail 'the guest ended with an error'; }
precord -q -c 20000 -o /out/often.trace -- work 200
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 2000 >/proc/sys/kernel/perf_event_max_sample_rate
precord -q -F 5000 -o /out/above.trace -- work 100 >/out/above 2>&1 || echo "status $?" >>/out/above
precord -q -c 20000 -o /out/throttled.trace -- work 300 >/out/throttled 2>&1
precord -q -b -o /out/branches.trace -- work 1 >/out/branches 2>&1 || echo "status $?" >>/out/branches
EOF

told() { # told TRACE WORD: what preport info counts
	preport -i "out/$1.trace" info | awk -v word="$2" '$1 == word { print $2; exit }'
}
[ "$(told often Samples)" -ge 800 ] && [ "$(told often Lost)" = 0 ] || fail '50,000 samples a second'
grep -q "for --freq: the kernel's limit is 2000 samples a second" out/above || { cat out/above; fail 'a rate above the limit'; }
grep -q '^status 125$' out/above || fail 'a rate above the limit is a failure'
[ "$(told throttled Throttled)" -ge 5 ] || { cat out/throttled; fail 'a kernel that stops sampling for a moment'; }
preport -i out/throttled.trace 2>&1 | grep -q 'throttled [1-9]' || fail 'throttling is shown to the reader'
grep -q "event 'cycles': the PMU records no branches of this kind here" out/branches || { cat out/branches; fail 'branch stacks'; }
