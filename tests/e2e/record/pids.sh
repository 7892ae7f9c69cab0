#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Numbers of processes that are used again, and processes in a PID and mount namespace of their own: samples belong to
# who had the number then, under the name and with the program of that time.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
last=/proc/sys/kernel/ns_last_pid
[ -w $last ] || skip "numbers of processes cannot be chosen here ($last)"
$CC -O2 -g -o strange "$TOP/tests/programs/strange_tasks.c" -lpthread || fail "cannot compile"
cp strange other

# The first has its number from the kernel, the second is to get the same one.
cat >reuse.sh <<'END'
./strange name 300 first & first=$!
wait $first
for try in $(seq 200); do
	echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
	./other name 300 second & second=$!
	wait $second
	[ $second = $first ] && exit 0
done
exit 77
END
precord -q -a -F 999 -o reuse.trace -- bash reuse.sh
status=$?
[ $status = 0 ] || [ $status = 77 ] || fail "precord: status $status"
[ $status = 0 ] || skip "no number was used twice in 200 tries"

# samples VIEW KEY...: the samples in the row of these keys
samples() {
	local view=$1
	shift
	preport -i reuse.trace --by "$view" --limit 10000 --format=csv 2>/dev/null | columns ${view//,/ } samples |
		awk -F'\t' -v want="$(IFS='|'; echo "$*")" '{ key = $1; for (i = 2; i < NF; i++) key = key "|" $i } key == want { n += $NF } END { print n + 0 }'
}
for who in "first strange other" "second other strange"; do
	read -r name own foreign <<<"$who"
	[ "$(samples thread,module "$name" "$own")" -ge 40 ] ||
		{ preport -i reuse.trace --by thread,module --limit 30; fail "'$name' has only $(samples thread,module "$name" "$own") samples in its program"; }
	[ "$(samples thread,module "$name" "$foreign")" = 0 ] ||
		{ preport -i reuse.trace --by thread,module --limit 30; fail "'$name' has samples in the other's program"; }
done

# Number 1 in a namespace is somebody else outside.
if unshare --pid --mount --fork --mount-proc true 2>/dev/null; then
	precord -q -a -F 999 -o reuse.trace -- unshare --pid --mount --fork --mount-proc ./strange name 300 inner ||
		fail "precord in front of unshare: status $?"
	[ "$(samples thread,module inner strange)" -ge 40 ] ||
		{ preport -i reuse.trace --by thread,module --limit 30; fail "a process in a namespace of its own is lost"; }
	named=$(preport -i reuse.trace --by thread,leaf --limit 10000 --format=csv 2>/dev/null | columns thread function samples | awk '$1 == "inner" && $2 == "burn" { print $3 }')
	[ "${named:-0}" -ge 20 ] ||
		fail "functions of a process in a namespace of its own have no names"
fi
exit 0
