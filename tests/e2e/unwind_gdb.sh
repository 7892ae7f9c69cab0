#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains of stopped processes are gdb's, frame by frame: signal handlers, an alternate stack, realigned and
# variable frames, coroutines, threads, callbacks out of libraries, C++ exceptions in flight.
set -eu
command -v gdb >/dev/null || { echo 'there is no gdb'; exit 77; }
compare=$TOP/tests/e2e/unwind/compare probe=$BUILD/tests/tools/unwind_probe
failed=0

check() { # check COMPLETE PROGRAM KIND: stop it where it waits; COMPLETE chains reach the root
	local pid log
	mkfifo ready
	"./$2" "$3" >ready &
	pid=$!
	head -c 1 ready >/dev/null
	kill -STOP $pid
	while cat /proc/$pid/task/*/status | grep '^State:' | grep -qv '^State:.[Tt]'; do sleep 0.05; done
	log=$("$compare" "$probe" $pid) || { failed=1; echo "FAIL $2 $3"; }
	case $log in *" $1 complete"*) ;; *) failed=1; echo "FAIL $2 $3: not $1 complete" ;; esac
	printf '%s: %s\n' "$2 $3" "$log"
	kill -KILL $pid
	wait $pid 2>/dev/null || :
	rm ready
}

"$CC" -O2 -w -o O2 "$TOP/tests/e2e/unwind/subject.c" -lpthread
"$CC" -O0 -w -fno-omit-frame-pointer -o O0 "$TOP/tests/e2e/unwind/subject.c" -lpthread
./O2 plain >/dev/null & pid=$!
gdb -q -nx -batch -p $pid -ex 'printf "attached\n"' 2>/dev/null | grep -q attached || {
	kill -KILL $pid
	echo 'gdb may not attach to processes here'
	exit 77
}
kill -KILL $pid
for program in O2 O0; do
	for kind in plain alloca vla realigned signal fault coroutine callback deep; do
		check 1 $program $kind
	done
	check 2 $program thread
	check 0 $program altstack # the rest is on the stack that was not captured
done
if command -v g++ >/dev/null; then
	g++ -O2 -w -o exception "$TOP/tests/e2e/unwind/exception.cc"
	check 1 exception throw
	check 1 exception cleanup
fi
exit $failed
