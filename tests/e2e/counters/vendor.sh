#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Events by the names of the processor's maker, here of a Skylake.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/fakepmu.bash"
need_system_wide
[ "$(uname -m)" = x86_64 ] || skip "libpfm4 has Skylake's tables on x86-64 only"
export LIBPFM_FORCE_PMU=skl

on intel precord list MEM_LOAD_RETIRED >out || fail "list"
expect 'MEM_LOAD_RETIRED.L1_MISS' out
on intel precord stat -a --format=csv -o counts.csv -e MEM_LOAD_RETIRED.L1_MISS,MEM_LOAD_RETIRED:L1_MISS,MEM_LOAD_RETIRED.L1_MISS:u -- true || fail "stat"
[ "$(grep -c ',counted' counts.csv)" = 3 ] || { cat counts.csv; fail "three ways to write one event"; }
on intel precord -q -a -e MEM_LOAD_RETIRED.L1_MISS -o t.trace -- true || fail "record"
preport -i t.trace info | grep -q 'MEM_LOAD_RETIRED.L1_MISS' || fail "its name in the trace"
on intel precord stat -e MEM_LOAD_RETIRED.L1_MIS -- true 2>out && fail "an unknown event"
expect "did you mean 'MEM_LOAD_RETIRED.L1_MISS'" out
exit 0
