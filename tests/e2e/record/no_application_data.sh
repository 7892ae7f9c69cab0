#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A trace holds no application data: what a program has in registers, on its stack, in its environment and in its
# arguments (command lines are recorded as such, so --no-cmdline) is not in the decoded trace; with --raw-stacks it is, and the file says so.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -o secrets "$TOP/tests/programs/secrets.c" || fail "cannot compile"

secret='vK7#q!Zx' argument='arg-Wj3%uXb8' environment='env-Hd5&tRm2'
hex_text() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
hex_number() { # little endian, 8 bytes
	local n=$1 i
	for i in 1 2 3 4 5 6 7 8; do printf %02x $((n & 255)); n=$((n >> 8)); done
}
number=0
for ((i = 7; i >= 0; i--)); do printf -v code %d "'${secret:i:1}"; number=$((number << 8 | code)); done
[ "$(hex_number $number)" = "$(hex_text "$secret")" ] || fail "the test cannot count"
printf %s "$secret" >secret

# In a shell of its own, so that neither the arguments nor the environment are those of precord.
cat >run.sh <<END
#!/bin/sh
SETTING='$environment' exec ./secrets 1 '$argument' <secret >heap.txt
END

check() { # check TRACE: sets $found and $missing, lists of secrets
	"$BUILD/tests/tools/dump_trace" "$1" >dump.bin || fail "$1: cannot be decoded"
	{
		od -An -v -tx1 dump.bin | tr -d ' \n'
		echo
		zstd -qdc "$1" | od -An -v -tx1 | tr -d ' \n'
		echo
		preport -i "$1" script --all --format=json 2>/dev/null | od -An -v -tx1 | tr -d ' \n'
		echo
	} >dump.hex
	found= missing=
	while read -r name hex; do
		if grep -qF "$hex" dump.hex; then found="$found $name"; else missing="$missing $name"; fi
	done <<-END
		number-and-text $(hex_text "$secret")
		inverted $(hex_number $((~number)))
		shifted $(hex_number $((number >> 17)))
		half $(hex_number $((number & 0xffffffff)))
		heap-address $(hex_number "$heap")
		argument $(hex_text "$argument")
		environment $(hex_text "$environment")
	END
}

record() { # record TRACE OPTION...
	local trace=$1
	shift
	(ahead precord -q -F 999 --no-cmdline -o "$trace" "$@" -- sh run.sh) 2>err.txt || { cat err.txt; fail "precord $*"; }
	heap=$(sed -n 's/^heap //p' heap.txt | head -n 1)
	preport -i "$trace" info >info.txt 2>&1 || { cat info.txt; fail "$trace does not read"; }
	[ "$(preport -i "$trace" info --format=json | sed -n 's/^  "samples": \([0-9]*\),$/\1/p')" -ge 100 ] || fail "$trace: too few samples"
	check "$trace"
}

# The kernel leaves a random gap between the stack and the arguments; where it holds a page that was never touched, the
# snapshot ends there.
for try in $(seq 30); do
	record raw.trace --raw-stacks
	[ -z "$missing" ] && break
done
[ -z "$missing" ] || fail "this test would not notice:$missing"
grep -q '^Stacks .*application data was kept' info.txt || { cat info.txt; fail "the file does not say that it holds application data"; }

for options in '' '--bundle=full' '-g fp' '-e page-faults/period=1/ -e cpu-clock'; do
	record pruned.trace $options
	[ -z "$found" ] || fail "precord $options: the trace holds:$found"
	grep -q 'application data was kept' info.txt && fail "precord $options: the file says that it holds application data"
done

# The command line of precord itself is kept, unless one says no.
precord -q -o line.trace -- sh -c ": $argument"
preport -i line.trace info | grep -qF "$argument" || fail "the command line of precord is not in the file"
precord -q --no-cmdline -o line.trace -- sh -c ": $argument"
check line.trace
[ -z "$found" ] || fail "--no-cmdline: the trace holds:$found"
