#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What 'preport strip' takes out is in no part of the new file; what stays says the same.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

$CC -O2 -g -o shares "$TOP/tests/programs/shares.c" -ldl -lpthread
precord -q -e cpu-clock -F 999 -o run.trace -- sh -c './shares recursive 1' command-line-secret >/dev/null
zstd -dc run.trace >whole.raw 2>/dev/null || skip "no zstd to look into the file with"
grep -q command-line-secret whole.raw || fail "the test looks for what is not there to begin with"

preport strip --command-lines --host --stacks run.trace 2>strip.err || { cat strip.err; fail "strip failed"; }
[ "$(stat -c %a run.stripped.trace)" = 600 ] || fail "others may read the new file"
zstd -dc run.stripped.trace >stripped.raw
if grep -q command-line-secret stripped.raw; then fail "the command line is still there"; fi
if preport info -i run.stripped.trace 2>/dev/null | grep '^Host'; then fail "the host is still there"; fi
preport info --sizes --format=csv -i run.stripped.trace >sizes.csv
if grep -E '^(stacks,(shapes|pointers into the stack)|registers),' sizes.csv; then fail "registers or stacks are still there"; fi
# Its chains are ours, not a walk of the kernel's, and end as they did.
preport info -i run.stripped.trace >info.txt 2>/dev/null
grep -q '^Stacks  *unwound before preport strip removed them' info.txt || { cat info.txt; fail "stacks of another kind"; }
complete() { # complete FILE: how many stacks are
	preport info --format=csv -i "$1" 2>/dev/null |
		awk -F, '$1 + 0 && $3 ~ /^"?complete/ { sum += $1 } END { print sum + 0 }'
}
[ "$(complete run.trace)" -gt 0 ] || fail "no stack is complete"
[ "$(complete run.trace)" = "$(complete run.stripped.trace)" ] || fail "other stacks are complete"
if preport script -i run.stripped.trace 2>/dev/null | grep -F 'shares.c' | grep -F '[kernel]'; then fail "frames are the kernel's"; fi
for view in leaf module thread total; do
	preport -i run.trace --by $view --limit 10000 --format=csv 2>/dev/null >a.csv
	preport -i run.stripped.trace --by $view --limit 10000 --format=csv 2>/dev/null >b.csv
	diff a.csv b.csv || fail "--by $view differs"
done
# Nothing named is a mistake, and the input stays as it is.
before=$(cksum <run.trace)
if preport strip run.trace 2>none.err; then fail "nothing to take out, and no error"; fi
grep -q 'choose --stacks' none.err || fail "no remedy"
[ "$before" = "$(cksum <run.trace)" ] || fail "the input was changed"

# Names: of a program, its thread, its functions, its source, a module made at run time and its code.
mkdir secret_folder
cat >secret_folder/secret_source.c <<'CODE'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
volatile unsigned sink;
static inline __attribute__((always_inline)) unsigned secret_inlined(unsigned x) { return x * 2654435761u ^ x >> 7; }
__attribute__((noinline, section(".text.secret_section"))) unsigned secret_leaf(unsigned x)
{
	for (int i = 0; i < 2000; i++)
		x = secret_inlined(x + sink);
	return x;
}
__attribute__((noinline)) void secret_caller(void)
{
	sink = secret_leaf(sink) + 1;
}
int main(void)
{
	char path[64];
	/* loop: sub $1, %edi; jne loop; ret */
	static const unsigned char code[] = { 0x83, 0xef, 0x01, 0x75, 0xfb, 0xc3 };
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clock_t until = clock() + 2 * CLOCKS_PER_SEC;

	prctl(PR_SET_NAME, "secret_thread");
	memcpy(made, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	fprintf(map, "%lx 1000 secret_made\n", (unsigned long)made);
	fclose(map);
	while (clock() < until) {
		secret_caller();
#ifdef __x86_64__
		((void (*)(int))made)(5000);
#endif
	}
}
CODE
$CC -O2 -g -o secret_folder/secret_program secret_folder/secret_source.c
precord -q -e cpu-clock -F 999 -o n.trace -- sh -c 'secret_folder/secret_program & echo $! >pid; wait'
rm -f "/tmp/perf-$(cat pid).map"
preport bundle n.trace 2>/dev/null
zstd -dc n.trace >n.raw
for name in program leaf caller inlined thread source folder $([ "$(uname -m)" != x86_64 ] || echo made); do
	grep -aq "secret_$name" n.raw || fail "'secret_$name' is not there to begin with"
done
preport strip --names -o m.trace n.trace 2>strip.err || { cat strip.err; fail "strip --names failed"; }
zstd -dc m.trace >m.raw
if grep -a -o 'secret_[a-z]*' m.raw; then fail "names are still there"; fi
readonly id=$(readelf -n secret_folder/secret_program 2>/dev/null | sed -n 's/.*Build ID: //p')
if [ -n "$id" ] && od -An -v -tx1 m.raw | tr -d ' \n' | grep -q "$id"; then fail "the build ID is still there"; fi

# The same samples in as many rows, whatever they are called; the kernel's own names are the same.
# (Not by total: of callers far from any leaf debug files of this machine may know inlined calls that did not travel.)
for view in leaf caller module thread process line address; do
	preport -i n.trace --by $view --limit 10000 --format=csv 2>/dev/null | columns samples | sort >a.txt
	preport -i m.trace --by $view --limit 10000 --format=csv 2>/dev/null | columns samples | sort >b.txt
	[ -s a.txt ] || fail "no rows --by $view"
	diff a.txt b.txt >diff.txt || { cat diff.txt; fail "--by $view differs without names"; }
done
preport -i m.trace --by leaf --limit 3 >leaf.txt 2>/dev/null
grep -q 'function[0-9]' leaf.txt || { cat leaf.txt; fail "no pseudonyms"; }
preport -i m.trace info | grep -q '^Note .*names were replaced' || fail "the file does not say what was done to it"
# Once more changes nothing: what is a pseudonym gets the same one again.
preport strip --names --stacks -o l.trace m.trace 2>/dev/null
preport -i m.trace --by module --format=csv 2>/dev/null | columns samples >a.txt
preport -i l.trace --by module --format=csv 2>/dev/null | columns samples >b.txt
diff a.txt b.txt || fail "--names with --stacks differs"

# All words of stacks would be kept: what of them is a name, nobody can tell.
precord -q --raw-stacks -e cpu-clock -o raw.trace -- ./shares recursive 0.2 >/dev/null
if preport strip --names raw.trace 2>raw.err; then fail "--names of raw stacks"; fi
grep -q 'say --stacks as well' raw.err || { cat raw.err; fail "no remedy"; }

# A copy of a damaged file says that it is one.
cp n.trace bad.trace
printf '\377\377\377' | dd of=bad.trace bs=1 seek=$(($(stat -c %s bad.trace) / 3)) conv=notrunc 2>/dev/null
preport -i bad.trace info 2>/dev/null | grep -q '^File .*damaged at offset' || fail "damage is not seen"
preport strip --host -o copy.trace bad.trace 2>/dev/null
preport -i copy.trace info 2>/dev/null | grep -q '^Note .*was damaged at offset' || fail "the copy hides the damage"
