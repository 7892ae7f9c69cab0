#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A thread of Python that runs code of a second interpreter in its process, as mod_wsgi's and uWSGI's do, has the frames of both: those of
# the newer one are inside the call that began it.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
python=$(command -v python3) || skip 'there is no python3'
seconds=0.8
[ -z "${SAN-}" ] || seconds=4 # a recorder with sanitizers knows the interpreter late
cat >two.py <<'EOF'
import sys

code = """
import time

def inside(n):
    for i in range(n): pass

until = time.process_time() + SECONDS
while time.process_time() < until: inside(10000)
""".replace("SECONDS", sys.argv[1])


def begins(run):
    run(code)


def before():
    import time
    until = time.process_time() + 0.1
    while time.process_time() < until: pass


try:
    from concurrent import interpreters

    def run(text):
        interpreters.create().exec(text)
except ImportError:
    try:
        import _interpreters as interpreters
        run_number = interpreters.exec
    except ImportError:
        import _xxsubinterpreters as interpreters
        run_number = interpreters.run_string

    def run(text):
        run_number(interpreters.create(), text)


before()  # the thread is known before it has a second state
begins(run)
EOF
"$python" -c 'import sys; v = sys.version_info; sys.exit(sys.implementation.name != "cpython" or v < (3, 8))' || skip 'this Python has no second interpreters'
precord -e cpu-clock -F 499 -o two.trace -- "$python" two.py $seconds 2>precord.txt || { cat precord.txt; fail 'the recording failed'; }
preport folded -i two.trace >two.folded 2>/dev/null || fail 'no stacks'
read -r inside both < <(awk '{ ns = $NF } /;inside / { inside += ns } /;begins;.*<module>;inside / { both += ns } END { printf "%.0f %.0f\n", inside, both }' two.folded)
echo "$inside ns inside, $both of them in the call"
[ "${inside:-0}" -gt 400000000 ] && [ "$both" = "$inside" ] || { cat two.folded; fail 'frames of the second interpreter are not where they belong'; }
exit 0
