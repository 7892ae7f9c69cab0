#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chains of stacks that are far deeper than a snapshot reach the root, and each is one that the program had: what is
# known of the outer frames from the sample before is never taken for what has come in its place meanwhile.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_interpreters

# Two functions of the same size call each other in turn, 600 KiB deep. All frames are of "same" but for a few, whose
# places are the only difference between two rounds: their return addresses. What the round is, the innermost eight say.
cat >deep.c <<'END_C'
#include <stdlib.h>
#include <time.h>
#define LEVELS 420
#define MIDDLE 210
static volatile unsigned outer, inner;
static volatile unsigned long sink;
static void same(int level);
static void other(int level);
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void burn(void)
{
	for (double end = now() + 0.004; now() < end;)
		for (int i = 0; i < 20000; i++)
			sink++;
}
static int is_other(int level)
{
	if (level <= 5)
		return inner >> (level - 1) & 1;
	if (level <= 10)
		return outer >> (level - 6) & 1;
	return level == (int)(MIDDLE + 6 * (outer + 1)) || level == (int)(30 + 5 * inner);
}
static void next(int level)
{
	if (!level)
		burn();
	else if (is_other(level))
		other(level - 1);
	else
		same(level - 1);
}
/* The inner half is left and entered again a few times while the outer one stays. */
#define BODY                                                     \
	volatile char room[1400];                                \
	room[0] = 0;                                             \
	for (int i = 0; i < (level == MIDDLE ? 4 : 1); i++) {    \
		if (level == MIDDLE)                             \
			inner = (unsigned)rand() % 32;           \
		next(level);                                     \
		room[1] = 0;                                     \
	}
static void same(int level) { BODY }
static void other(int level) { BODY }
int main(int argc, char **argv)
{
	double end = now() + atof(argv[argc - 1]);
	while (now() < end) {
		outer = (unsigned)rand() % 32;
		same(LEVELS);
	}
}
END_C
"$CC" -O1 -g -fno-inline -fno-optimize-sibling-calls -o deep deep.c || fail 'cannot compile'
precord -v -F 99 -o deep.trace -- ./deep 2 2>err || { cat err; fail 'precord'; }
preport -i deep.trace script --format=json >chains || fail 'preport'
python3 - <<'END_PY' || { cat err; fail 'deep chains'; }
import json
complete = wrong = ended = 0
for line in open("chains"):
    sample = json.loads(line)
    names = [f["function"] for f in sample.get("frames", []) if not f["kernel"]]
    if "burn" not in names:
        continue
    calls = [n == "other" for n in names[names.index("burn"):] if n in ("same", "other")]
    inner = sum(2**i for i in range(5) if calls[i])
    outer = sum(2**i for i in range(5) if calls[5 + i])
    places = (210 + 6 * (outer + 1) - 1, 30 + 5 * inner - 1)
    if [i in places for i in range(10, len(calls))] != calls[10:]:
        print("at", [i for i in range(10, len(calls)) if calls[i]], "instead of", places, sample["stop"])
        wrong += 1
    if sample["stop"] == "complete":
        complete += 1
        wrong += len(calls) != 421 or "main" not in names
    else:
        ended += 1
print(complete, "complete,", ended, "not,", wrong, "wrong")
# The first samples are before the stack's end is known.
raise SystemExit(wrong > 0 or complete < 20)
END_PY
awk '/rests of deep stacks/ { print; found = 1 } END { exit !found }' err || fail 'it does not say what was read'
