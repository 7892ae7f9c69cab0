# SPDX-License-Identifier: Apache-2.0
# Shared by the tests that need a PMU, which tests/fakepmu plays. Sourced, not run.

# on MACHINE COMMAND...: with the PMUs of intel, hybrid, amd or arm. NMI=1: the watchdog holds a counter.
on() {
	local machine=$1 root=$PWD/machines/$1${NMI-}
	shift
	[ -d "$root" ] || "$TOP/tests/fakepmu/sysfs" "$machine" "$root/devices" "${NMI:-0}"
	env FAKEPMU="$machine" FAKEPMU_SYSFS="$root/devices" ${NMI:+FAKEPMU_WATCHDOG=1} \
		ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
		LD_PRELOAD="$BUILD/libfakepmu.so" "$@"
}

# expect TEXT FILE: the file holds the text.
expect() {
	grep -qF -- "$1" "$2" || { head -n 20 "$2" | cut -c1-200 >&2; fail "'$1' is not in what was printed"; }
}
