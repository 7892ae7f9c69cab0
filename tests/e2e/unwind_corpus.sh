#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Programs that are awkward to unwind, of several compilers, linkers, C libraries and ways to be started: of each one's stacks that were
# not cut, 99 in 100 reach their root, the callers are those that the program has, and chains with whole stacks and with pruned ones are equal.
# slow: it records a corpus of programs
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
source=$TOP/tests/programs/unwind/cases.c tools=$BUILD/tests/tools ms=150
tried=0 failed=0 left=

wrong() { echo "FAIL $name: $1"; failed=$((failed + 1)); }

check() { # check NAME CALLERS COMMAND...: CALLERS is what folded lines hold, "" if they have no names
	name=$1 callers=$2
	shift 2
	tried=$((tried + 1))
	precord -q --raw-stacks -e cpu-clock:u -F 999 -o raw.trace -- "$@" >log 2>&1 || { wrong "$(tail -n 1 log)"; return; }
	"$tools/prune_trace" raw.trace pruned.trace >log 2>&1 || { wrong "$(tail -n 1 log)"; return; }
	for kind in raw pruned; do
		"$tools/unwind_bench" --check $kind.trace >$kind.found || wrong "$kind: chains differ with splicing"
		sed -n 's/.*hash //p' $kind.found >$kind.hash
	done
	cmp -s raw.hash pruned.hash || wrong 'chains differ between whole and pruned stacks'
	awk '/^ *[0-9]+  (complete|completed by)/ { ok += $1 } /^ *[0-9]+  (snapshot ended|no stack recorded|no user part|just entering)/ { beside += $1 }
		/ stacks,/ { all = $1 } END { print ok + 0, all - beside }' pruned.found >rooted
	read -r ok all <rooted
	[ "$all" -ge 30 ] || wrong "only $all stacks"
	# As a rule all do. Three more may not, of however few: as a program starts and ends, there is code without a table.
	[ $(((ok + 3) * 100)) -ge $((all * 99)) ] || { wrong "$ok of $all stacks reach their root"; grep '^ *[0-9]*  ' pruned.found; }
	[ -n "$callers" ] || { echo "$name: $ok of $all rooted"; return; }
	preport -i pruned.trace folded --samples 2>/dev/null >folded
	awk -v callers="$callers" '{ n = $NF; sub(/ [0-9]+$/, "") } /step$|burn/ { all += n; if ($0 ~ callers) ok += n; else print }
		END { printf "%d %d\n", ok, all >"named" }' folded >odd
	read -r named all_named <named
	echo "$name: $ok of $all rooted, $named of $all_named with the right callers"
	[ "$all_named" -gt 0 ] && [ $(((named + 3) * 100)) -ge $((all_named * 99)) ] || { wrong 'other callers'; head -n 3 odd; }
}

build() { # build NAME COMPILER...: false if that cannot be done here
	local out=$1
	shift
	command -v "$1" >/dev/null && "$@" -w -o "$out" "$source" -lpthread 2>/dev/null && return
	left="$left $out"
	return 1
}

build O2 "$CC" -O2 || fail 'the compiler does not work'
for kind in plain alloca vla realigned vfork callback; do
	check "$kind" "main;outer;place_$kind;.*burn" ./O2 $kind $ms
done
check signal 'main;outer;raise_it;.*place_signal;burn' ./O2 signal $ms
check thread '(start_thread|libc[^;]*);place_thread;burn' ./O2 thread $ms
check coroutine 'place_coroutine;burn' ./O2 coroutine $ms
# What the handler interrupted lies on another stack, which is read as well once one sample has shown that. How soon the reader comes
# is up to the machine: a stack either goes on to main() or says why not, and of some runs one does so.
name=altstack
for kind in '' --raw-stacks; do
	for run in 1 2 3 4 5 6 7 8 9 10; do
		precord -q $kind -e cpu-clock:u -F 999 -o alt.trace -- ./O2 altstack $ms
		"$tools/unwind_bench" --check alt.trace >/dev/null || wrong 'chains differ with splicing'
		preport -i alt.trace folded --samples 2>/dev/null | grep 'burn' >folded
		grep -v -e '^[^;]*;\[another stack\];[^;]*;[^;]*;place_signal;burn' \
			-e ';main;outer;raise_on_other_stack;[^[]*;[^;]*;place_signal;burn' folded && wrong 'other callers'
		! grep -q ';main;outer;raise_on_other_stack;' folded || break
	done
	grep -q ';main;outer;raise_on_other_stack;' folded || wrong "no stack goes on on the other one ($kind)"
done
# ---- by compiler, linker and option: everything in one function's frame, and a callback out of the C library
flavour() { # flavour NAME CALLERS COMPILER...
	local out=$1 callers=$2
	shift 2
	build "$out" "$@" || return 0
	check "$out" "$callers" "./$out" realigned $ms
	[ -n "${SAN-}" ] || check "$out, signal" "${callers:+main;outer;raise_it;.*place_signal;burn}" "./$out" signal $ms
}
usual='main;outer;place_realigned;burn'
flavour stripped '' "$CC" -O2 -s
flavour debug-frame "$usual" "$CC" -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables
flavour no-frame-pointer "$usual" "$CC" -O2 -fomit-frame-pointer
flavour frame-pointer "$usual" "$CC" -O1 -fno-omit-frame-pointer
[ "$(uname -m)" != x86_64 ] || flavour cet "$usual" "$CC" -O2 -fcf-protection=full
! grep -qw avx /proc/cpuinfo || flavour avx "$usual" "$CC" -O3 -mavx
flavour static "$usual" "$CC" -O2 -static
flavour static-pie "$usual" "$CC" -O2 -static-pie
flavour gold "$usual" "$CC" -O2 -fuse-ld=gold
flavour lld "$usual" "$CC" -O2 -fuse-ld=lld
flavour mold "$usual" "$CC" -O2 -fuse-ld=mold
flavour clang "$usual" clang -O2
# musl has no table: what calls main() is the root, but out of its raise() there is no way
build musl musl-gcc -O2 && check musl "$usual" ./musl realigned $ms
build musl-static musl-gcc -O2 -static && check musl-static "$usual" ./musl-static realigned $ms
# ---- by where the program's file is
cp O2 gone && check deleted 'main;outer;place_deleted;burn' ./gone deleted $ms
check memfd 'main;outer;place_plain;.*burn' ./O2 memfd 0 cases plain $ms
if unshare -m true 2>/dev/null; then
	check namespace 'main;outer;place_plain;.*burn' unshare -m sh -c \
		'mkdir -p inside && mount -t tmpfs none inside && cp O2 inside/hidden && exec inside/hidden plain '$ms
else
	left="$left namespace"
fi
if command -v c++ >/dev/null && c++ -O2 -w -o throwing "$TOP/tests/programs/unwind/throwing.cc"; then
	check throw 'main;outer.*;place_throw.*;guard::~guard.*;burn' ./throwing $ms
fi
# OpenSSL has code for each kind of CPU; that for AVX2 keeps what its rules read below the stack pointer. OPENSSL_ia32cap(3)
# takes SHA and AVX-512 away, and then AVX2 and AVX, as far as the CPU has them.
if command -v openssl >/dev/null; then
	check libcrypto '' openssl speed -seconds 1 -bytes 1024 sha256
	# What lies in the frame of SHA-512 from before depends on where the stack is: one run in two has a second word that fits.
	for hash in sha1 sha256 sha512 sha512 sha512 sha512; do
		check "libcrypto, AVX2, $hash" '' env OPENSSL_ia32cap=:~0x20010000 openssl speed -seconds 1 -bytes 1024 $hash
	done
	check 'libcrypto, SSSE3' '' env OPENSSL_ia32cap=~0x1000000000000000:~0x20010020 openssl speed -seconds 1 -bytes 1024 sha256
fi
echo "$tried programs, $failed failures; not built here:${left:- none}"
[ $failed = 0 ]
