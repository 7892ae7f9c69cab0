#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains of recorded samples are those that gdb finds in core files of the same moment: a program
# dies of a page fault, which is a sample of the recording and the instant of the core. On aarch64,
# which cannot be recorded here, QEMU writes the core, gdb hands out registers and stack, and the
# chain is gdb's.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/gdb_dump.bash"
command -v gdb >/dev/null || skip 'there is no gdb'
need_recording
source=$TOP/tests/e2e/unwind/subject.c failed=0

judge() { # judge LABEL COMPLETE: ./ours is ./chain, gdb's, and COMPLETE chains reach the root
	local log
	sed -i 's/^/1 /' chain
	if ! log=$("$TOP/tests/e2e/unwind/compare_chains" LABEL="$1" chain ours); then
		failed=1
		echo "FAIL $1: ours, gdb's"
		paste ours chain
	fi
	case $log in *" $2 complete") ;; *) failed=1; echo "FAIL $1: not $2 complete" ;; esac
	[ "$(wc -l <ours)" -gt 4 ] || { failed=1; echo "FAIL $1: only $(wc -l <ours) lines"; }
	echo "$log"
}

check() { # check COMPLETE PROGRAM KIND: COMPLETE chains, of one, reach the root
	rm -f core*
	# The shell's own limit stays 0: what dies by its command's signal shall leave no core of
	# its own.
	{ precord -q -e page-faults:u -c 1 -o last.trace -- env CRASH=1 \
		sh -c "ulimit -c unlimited; exec ./$2 $3" >precord.log || :; } 2>precord.log
	set -- "$@" core*
	[ -e "$4" ] || skip "cores go elsewhere here: $(cat /proc/sys/kernel/core_pattern)"
	gdb -q -nx -iex 'set debug-file-directory /nonexistent' -batch "./$2" "$4" \
		-ex 'set backtrace past-main on' \
		-ex 'frame apply 1024 -q printf "0x%016lx\n", (unsigned long)$pc' 2>/dev/null |
		sed -n '/^0x/p' >chain
	# Of the faults at that instruction, the one that killed it is the last of all.
	preport -i last.trace script --comm "$2" --no-inline --format json 2>/dev/null |
		sed -n '$s/{"ip"/\n&/gp' |
		sed -n -e 's|.*"stop": "complete".*|root|p' -e 's|.*"stop": .*|stop|p' \
			-e 's/{"ip": "0x\([0-9a-f]*\)".*/\1/p' |
		awk 'NR == 1 { end = $1; next }
			{ printf "1 0x%s\n", substr("0000000000000000" $1, length($1) + 1) }
			END { print 1, end }' >ours
	judge "$2 $3" "$1"
}

ulimit -S -c 0
[ "$(ulimit -H -c)" != 0 ] || skip 'core files are forbidden here'
"$CC" -O2 -w -o O2 "$source" -lpthread
"$CC" -O0 -w -fno-omit-frame-pointer -o O0 "$source" -lpthread
for program in O2 O0; do
	for kind in plain alloca vla realigned signal fault coroutine callback thread; do
		check 1 $program $kind
	done
	check 0 $program altstack # the rest is on the stack that was not captured
done
if command -v g++ >/dev/null && g++ -O2 -w -o exception "$TOP/tests/e2e/unwind/exception.cc"; then
	check 1 exception throw
	check 1 exception cleanup
fi

qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || :)
compiler=$(command -v aarch64-linux-gnu-gcc || :)
# Its cores do not say where libraries and position-independent programs are.
if [ -z "$qemu" ] || [ -z "$compiler" ] || ! command -v gdb-multiarch >/dev/null; then
	echo 'aarch64 not compared: no qemu-aarch64, gdb-multiarch or aarch64-linux-gnu-gcc'
	exit $failed
fi

check_aarch64() { # check_aarch64 COMPLETE PROGRAM KIND
	rm -f ./*.core
	{ (ulimit -c unlimited && CRASH=1 exec "$qemu" -E PADDING="$gdb_dump_padding" "./$2" "$3") \
		>qemu.log || :; } 2>qemu.log
	set -- "$@" qemu_*.core
	[ -e "$4" ] || fail "QEMU left no core file of '$2 $3'"
	gdb_dump / "$2" -ex "core-file $4" || fail "gdb cannot read the core of '$2 $3'"
	"$BUILD/tests/tools/unwind_probe" --dump aarch64 maps regs stack >probe
	awk '/^0x/ { print 1, $1 }
		/^stop/ { print 1, ($2 == "complete" ? "root" : "stop") }' probe >ours
	judge "aarch64 $2 $3" "$1"
}

aarch64-linux-gnu-gcc -static -O2 -w -o O2-arm "$source" -lpthread
aarch64-linux-gnu-gcc -static -O0 -w -o O0-arm "$source" -lpthread
for program in O2-arm O0-arm; do
	# gdb 13 does not get through QEMU's signal trampoline.
	for kind in plain alloca vla realigned callback deep; do
		check_aarch64 1 $program $kind
	done
done
exit $failed
