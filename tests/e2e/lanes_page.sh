#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pages have a lane for each thread, as long as the thread's time, which a user walks and zooms by keyboard; so have traces for Chrome
# and files for speedscope.
# slow: a browser draws a page
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
precord -q -e off-cpu -o try.trace -- sleep 0.01 2>try.err || skip "switches cannot be recorded here: $(head -n 1 try.err)"
grep -q 'stacks are not known' try.err && skip "$(head -n 1 try.err)"
wakers=--wakers
precord -q --off-cpu --wakers -o try.trace -- sleep 0.01 2>try.err || wakers=

$CC -O2 -g -o waits "$TOP/tests/programs/waits.c" -lpthread
precord -q -F 999 --off-cpu $wakers -o w.trace -- ./waits mutex >truth
preport -i w.trace flamegraph -o page.html
# On and off the CPU have two hues, in the page (lanes.mjs) and in a picture; where nothing waited there are kinds of code.
preport -i w.trace flamegraph --event wall -o wall.svg
preport -i w.trace flamegraph --event cpu-clock -o on.svg
grep -q 'class="w"' wall.svg && grep -q 'class="u[012]"' wall.svg && grep -q 'blue: off CPU' wall.svg || fail 'a picture of wall has not two hues'
! grep -q 'class="w"' on.svg && grep -q 'blue: kernel' on.svg || fail 'a picture of samples has a hue for waiting'
# Threads by number: a new one has another name for a moment.
preport -i w.trace --event wall --by thread -n 0 --format=csv | columns tid weight | awk -F'\t' '{ ns[$1] += $2 } END { for (tid in ns) printf "%d\t%d\n", tid, ns[tid] }' >threads.csv

[ -z "$wakers" ] || preport -i w.trace waits waits -n 0 --format=csv | columns depth thread function total_ns >chains.csv

# A trace for Chrome and Perfetto has the same spans, as complete events.
spans() { preport -i $1.trace export --to chrome -o $1.json 2>export.err && zcat -f $1.json | grep -a '"ph": *"X"'; }
spans w | sed -E 's/.*"tid": *([0-9]+).*"dur": *([0-9]+)\.([0-9]{3}).*/\1 \2\3/' |
	awk '{ ns[$1] += $2 } END { for (tid in ns) printf "%d\t%d\n", tid, ns[tid] }' | sort >spans.csv
sort threads.csv | diff - spans.csv || fail 'spans of a chrome trace are not as long as the threads'

# So has speedscope's, as frames that open and close.
preport -i w.trace export --to speedscope -o w.speedscope 2>export.err
preport -i w.speedscope --event states --by thread -n 0 --format=csv | columns tid weight | awk -F'\t' '{ ns[$1] += $2 } END { for (tid in ns) printf "%d\t%d\n", tid, ns[tid] }' | sort >states.csv
sort threads.csv | diff - states.csv || fail 'states in a speedscope file are not as long as the threads'

# Firefox's has them as markers of the first track of each thread; what waits is blue.
if command -v python3 >/dev/null; then
	preport -i w.trace export --to firefox -o w.firefox 2>export.err
	python3 - <<'EOF' || fail 'markers of a Firefox file are not the spans of the threads'
import gzip, json
data = open("w.firefox", "rb").read()
profile = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
length = dict(map(int, line.split()) for line in open("threads.csv"))
strings, found = profile["shared"]["stringArray"], {}
for thread in profile["threads"]:
    if not thread["tid"][0].isdigit(): # of no thread that is known
        continue
    markers, tid = thread["markers"], int(thread["tid"].split(".")[0])
    assert all(len(markers[c]) == markers["length"] for c in ("name", "data", "startTime", "endTime", "phase", "category"))
    ns = sum(round((e - b) * 1e6) for b, e in zip(markers["startTime"], markers["endTime"]))
    found[tid] = found.get(tid, 0) + ns
    for name, category in zip(markers["name"], markers["category"]):
        assert (strings[name] == "on a CPU") == (category == 1), (strings[name], category)
    if thread["name"].endswith("(off-cpu)"):
        assert set(thread["frameTable"]["category"]) <= {4}, thread["frameTable"]["category"]
assert found and found == {tid: ns for tid, ns in length.items() if tid}, (found, length) # 0: of no thread that is known
EOF
fi

# A recording without switches has none, and its page is no larger for them.
precord -q -e cpu-clock -F 999 -o c.trace -- ./waits queue >truth
preport -i c.trace flamegraph -o c.html
! grep -q 'lanes-data' c.html || fail 'a page without switches has lanes'
! spans c || fail 'a chrome trace without switches has spans'

command -v node >/dev/null || skip 'node is not installed'
mkdir -p model/report/page
cp -r "$TOP/report/page/web" model/report/page/
echo '{ "type": "module" }' >model/package.json
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$CHROMIUM" ] && "$TOP/tests/web/packages" || CHROMIUM=
export CHROMIUM
node "$TOP/tests/web/lanes.mjs" "$PWD"
