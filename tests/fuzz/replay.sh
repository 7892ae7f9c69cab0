#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Feed each fuzz target in $BUILD, or that of FORMAT alone, its corpus from tests/data/fuzz/FORMAT/ and count targets.
# Usage: BUILD=DIR replay.sh [FORMAT]
set -u
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0 skipped=0
for target in "$BUILD"/tests/fuzz/fuzz_${1-*}; do
	[ -x "$target" ] && [ ! -d "$target" ] || continue
	format=${target##*/fuzz_}
	corpus=tests/data/fuzz/$format
	if ! ls "$corpus"/* >/dev/null 2>&1; then
		echo "FAIL $format: there is no corpus in $corpus"
		failed=$((failed + 1))
	elif find "$corpus" -type f -print0 | sort -z | xargs -0 timeout 300 "$target"; then
		echo "ok   $format: $(find "$corpus" -type f | wc -l) inputs"
		passed=$((passed + 1))
	else
		echo "FAIL $format"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
