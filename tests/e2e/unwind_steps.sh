#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# At every instruction of a program, its C library and the dynamic linker, the chain is that of a shadow stack
# kept by watching calls and returns; for programs of several compilers, linkers and options.
set -eu
[ "$(uname -m)" = x86_64 ] || { echo 'the shadow stack knows x86-64 calls only'; exit 77; }
probe=$BUILD/tests/tools/unwind_probe source=$TOP/tests/e2e/unwind/subject.c
tried=0 failed=0 steps=20000
[ -z "${SAN-}" ] || steps=2000 # they are slow then

try() { # try NAME COMPILER...: build and step; what cannot be built here is left out
	local name=$1 log
	shift
	command -v "$1" >/dev/null && "$@" -w -o "$name" "$source" 2>/dev/null || return 0
	log=$("$probe" --steps $steps "./$name" step 2>&1) || failed=$((failed + 1))
	case $log in *'did not stop'* | *'ot permitted'*) echo "$log"; exit 77 ;; esac
	echo "$name: ${log##*$'\n'}"
	case $log in *' 0 wrong') ;; *) printf '%s\n' "$log" | head -n 60 ;; esac
	tried=$((tried + 1))
}

try O0 "$CC" -O0
try O2 "$CC" -O2
try frame-pointer "$CC" -O2 -fno-omit-frame-pointer
try no-frame-pointer "$CC" -O2 -fomit-frame-pointer
try cet "$CC" -O2 -fcf-protection=full
try avx "$CC" -O3 -mavx2
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
[ $tried -gt 0 ] && [ $failed = 0 ]
