#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Samples seen and samples lost are together what the kernel counted, however many were lost: with rings that
# are too small, and with a recorder that stands still for a while. What the kernel tells on the way is no
# more than its own count, and falls short of it only by what came last.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide

# Each first touch of a page is an event, and with -c 1 a sample.
cat >touch.c <<'SRC'
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	size_t pages = strtoul(argv[argc - 1], NULL, 10);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	return 0;
}
SRC
$CC -O1 -o touch-pages touch.c || fail "cannot compile"

# The other CPUs' faults are other people's. Linux 6.18 counts a few faults, often of CPU 0, without giving them a
# record, as a program of 30 lines shows: one in 10,000 is let pass, and a recording in which it is more, done again.
cpu=$(sed -n 's/^Cpus_allowed_list:.*[-,\t]//p' /proc/self/status)

cell() { sed -n "s/.*\"$1\": \"*\([0-9]*\).*/\1/p" <<<"$row"; }

# record WHEN OPTION...: 12,000 first touches; sets what came of them
record() {
	local when=$1 row
	shift
	precord -C "$cpu" -e page-faults:u -c 1 --bundle=none --realtime never -o exact.trace "$@" -- \
		taskset -c "$cpu" sh touch.sh 2>err.txt || { cat err.txt; fail "$when: precord: $?"; }
	preport -i exact.trace info --format=json >info.json 2>err.txt ||
		{ cat err.txt; fail "$when: the file does not read"; }
	row=$(grep '"event": "page-faults' info.json)
	counted=$(cell counted) samples=$(cell samples) lost=$(cell lost)
	rest=$((counted - samples - lost - $(cell dropped)))
	echo "$when: $counted counted, $samples seen, $lost lost, $rest left"
	[ $rest -ge 0 ] || fail "$when: more seen and lost than counted"
}

# balance WHEN AT-LEAST OPTION...: record, of which so many are lost at least, and see what is left
balance() {
	local when=$1 least=$2 counted samples lost rest kept told
	shift 2
	for _ in 1 2 3; do
		record "$when" "$@"
		[ $((rest * 10000)) -le "$counted" ] && break
	done
	[ $((rest * 10000)) -le "$counted" ] || fail "$when: $rest are neither seen nor lost, time after time"
	[ "$counted" -ge 12000 ] || fail "$when: only $counted counted"
	[ "$lost" -ge "$least" ] || fail "$when: only $lost lost"

	# Samples that are in the file, and losses on the time line.
	preport -i exact.trace script --all --no-chain --format=json >events.json 2>err.txt ||
		{ cat err.txt; df . | tail -n 1; fail "$when: the file is not listed to its end: $?"; }
	kept=$(grep -c '"kind": "sample"' events.json)
	[ "$kept" = "$samples" ] ||
		{ cat info.json err.txt; tail -n 2 events.json; fail "$when: the file has $kept of $samples samples"; }
	told=$(grep -E '"kind": "lost(-samples|_samples)?"' events.json |
		sed 's/.*"count": "*\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n + 0 }')
	[ "$told" -le "$lost" ] && [ $((told * 2 + 100)) -ge "$lost" ] ||
		fail "$when: $lost lost, and $told of them told on the time line"
}

cat >touch.sh <<'END'
for i in 1 2 3 4; do ./touch-pages 3000; done
END
balance 'with room' 0 -g none -m 8M
balance 'with tiny rings' 0 -g dwarf -m 128K

cat >touch.sh <<'END'
./touch-pages 3000
kill -STOP $PPID
./touch-pages 6000
kill -CONT $PPID
./touch-pages 3000
END
balance 'stopped for a while' 1000 -g dwarf -m 1M
exit 0
