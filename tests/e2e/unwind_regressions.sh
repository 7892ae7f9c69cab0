#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Single samples of real recordings are walked as they were when somebody looked and found it right.
#
# Usage: BUILD=DIR unwind_regressions.sh [--update NAME...]    the second form writes what is printed now
set -eu
: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}"
data=$TOP/tests/data/unwind
PATH=$BUILD:$PATH
unset DEBUGINFOD_URLS

nothing=$(mktemp -d)
trap 'rmdir "$nothing"' EXIT
# Names may come from debug packages of the machine: what is held here is where each frame was found, and by what.
walk() { preport -i "$data/$1.trace" debug-unwind --symfs "$nothing" --sample 1 | grep -v '^  function  '; }

if [ "${1-}" = --update ]; then
	shift
	for name; do
		walk "$name" >"$data/$name.walk"
	done
	exit 0
fi
tried=0 failed=0
for trace in "$data"/*.trace; do
	name=$(basename "$trace" .trace)
	walk "$name" | diff -u "$data/$name.walk" - || { failed=1; echo "FAIL $name"; }
	tried=$((tried + 1))
done
echo "$tried samples"
[ $failed = 0 ] && [ $tried -ge 3 ]
