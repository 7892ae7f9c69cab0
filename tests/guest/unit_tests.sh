#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The unit tests that look at their own process, on a kernel for aarch64: emulation of one program, where
# "make cross" runs them all, shows them another.
set -eu
. "$TOP/tests/guest/lib/guest.bash"
need_kernel 6.1
add_program "$CROSS/tests/unit/run"
run_guest <<'EOF' || { tail -n 30 console; cat out/log; fail 'unit tests'; }
run test_attach test_proc_scan test_process test_ring test_arch test_kernel_symbols >/out/log 2>&1
EOF
tail -n 1 out/log
