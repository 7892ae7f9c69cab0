#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A user who begins many files with an interpreter's name does not keep the recorder from reading the interpreters of others.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
python=$(command -v python3) || skip "no python3 here"

cat >fake.c <<'END'
#include <unistd.h>
int main(void) { return usleep(300000); }
END
$CC -O1 -o fake fake.c || fail "cannot compile"
cat >real.py <<'END'
import time
def spin(n): return sum(i * i for i in range(n))
end = time.process_time() + 0.3
while time.process_time() < end: spin(1000)
END
cat >all.sh <<'END'
for i in $(seq 100); do
	mkdir $i && cp fake $i/python3 && $i/python3 &
done
wait
exec "$1" -I -S real.py
END
precord -e cpu-clock -F 999 -o names.trace -- sh all.sh "$python" 2>err.txt || { cat err.txt; fail "the recording failed"; }
grep -q "more files of interpreters" err.txt && { cat err.txt; fail "files that hold no interpreter took all places"; }
preport -i names.trace --by script --limit 1000 --format=csv >scripts.csv 2>/dev/null
grep -q ',spin,' scripts.csv && exit 0
[ "$(preport -i names.trace --comm 'python3*' --by process --format=csv 2>/dev/null | columns samples | awk '{ n += $1 } END { print n + 0 }')" -ge 100 ] || skip "the program had too few samples"
cat err.txt scripts.csv
fail "functions of the real interpreter's script have no names"
