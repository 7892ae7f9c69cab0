#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# At every instruction of a program, its C library and the dynamic linker, the chain is that of a
# shadow stack kept by watching calls, returns and signals; for programs of several compilers, linkers
# and options, for each awkward kind of frame, and for libcrypto's hand-written assembly.
# slow: it steps through programs one instruction at a time
set -eu
[ "$(uname -m)" = x86_64 ] || { echo 'the shadow stack knows x86-64 calls only'; exit 77; }
probe=$BUILD/tests/tools/unwind_probe source=$TOP/tests/e2e/unwind/subject.c
tried=0 failed=0 steps=20000
[ -z "${SAN-}" ] || steps=2000 # they are slow then

# follow COMMAND...: step it to its end, or as far as that goes. Where C libraries keep frame pointers, the last instructions of a
# function have taken off registers that its table still places on the stack: who needs them is one step in 200 at the most, and says so.
follow() {
	local log steps_done incomplete
	log=$("$probe" --steps $steps "$@" 2>&1) || failed=$((failed + 1))
	case $log in *'did not stop'* | *'ot permitted'*) echo "$log"; exit 77 ;; esac
	echo "$*: ${log##*$'\n'}"
	case $log in
	*' 0 incomplete, 0 wrong') ;;
	*' 0 wrong')
		read -r steps_done _ incomplete _ <<<"${log##*$'\n'}"
		[ "$1" = ./assembly ] || [ $((incomplete * 200)) -le "$steps_done" ] || { printf '%s\n' "$log" | head -n 60; failed=$((failed + 1)); }
		;;
	*) printf '%s\n' "$log" | head -n 60 ;;
	esac
	tried=$((tried + 1))
}

build() { # build NAME SOURCE COMPILER...: false if that can't be done here
	command -v "$3" >/dev/null && "$3" -w -o "$1" "$2" "${@:4}" 2>/dev/null
}

try() { # try NAME COMPILER...
	! build "$1" "$source" "${@:2}" || follow "./$1" step
}

try_kinds() { # try_kinds NAME COMPILER...: each kind of frame, from main() to the end of the program
	build "$1" "$TOP/tests/programs/unwind/cases.c" "${@:2}" -lpthread || return 0
	for kind in plain alloca vla realigned signal callback; do
		STEP=1 follow "./$1" $kind 0
	done
}

try O0 "$CC" -O0
try O2 "$CC" -O2
try frame-pointer "$CC" -O2 -fno-omit-frame-pointer
try no-frame-pointer "$CC" -O2 -fomit-frame-pointer
try cet "$CC" -O2 -fcf-protection=full
! grep -qw avx2 /proc/cpuinfo || try avx "$CC" -O3 -mavx2
try static "$CC" -O2 -static
try static-pie "$CC" -O2 -static-pie
try no-pie "$CC" -O2 -no-pie
try debug-frame "$CC" -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables
try stripped "$CC" -O2 -s
try protected "$CC" -O2 -fstack-clash-protection -fstack-protector-all
try gold "$CC" -O2 -fuse-ld=gold
try lld "$CC" -O2 -fuse-ld=lld
try mold "$CC" -O2 -fuse-ld=mold
try clang clang -O2
try clang-lld clang -O1 -fuse-ld=lld -fomit-frame-pointer
try_kinds kinds-O0 "$CC" -O0
try_kinds kinds-O2 "$CC" -O2
try_kinds kinds-cet "$CC" -O2 -fcf-protection=full
! grep -qw avx2 /proc/cpuinfo || try_kinds kinds-avx "$CC" -O3 -mavx2 -fomit-frame-pointer
try_kinds kinds-frame-pointer "$CC" -O2 -fno-omit-frame-pointer
try_kinds kinds-clang clang -O2
crypto=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcrypto\.so.* => //p' | head -n 1)
# Where its AVX2 code of SHA-512 keeps the frame's address below the stack pointer, no snapshot has it.
[ ! -e "$crypto" ] || ! build assembly "$TOP/tests/e2e/unwind/assembly.c" "$CC" -O2 "$crypto" ||
	follow ./assembly
[ $tried -gt 0 ] && [ $failed = 0 ]
