#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python and Ruby say themselves how much of their CPU time they collected garbage: the label, the frame above the function whose
# garbage it is, and the summary say the same.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters

cat >collect.py <<'END'
import gc, time
class Node: pass
def work(n): return sum(i * i for i in range(n))
def waste(n):
    for i in range(n):
        a, b = Node(), Node()
        a.other, b.other = b, a
def note(phase, info):
    global begin, spent
    if phase == "start": begin = time.process_time()
    else: spent += time.process_time() - begin
keep = [[i] for i in range(30000)]
start, spent, begin = time.process_time(), 0, 0
gc.callbacks.append(note)
while time.process_time() - start < 0.7:
    work(20000); waste(2000); gc.collect()
print("SHARE", spent / (time.process_time() - start))
END
cat >collect.rb <<'END'
def cpu; Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID); end
def work(n); x = 0; n.times { |i| x += i * i }; x; end
def waste(n); Array.new(n) { |i| "some text #{i}" }; end
keep = Array.new(100_000) { |i| "k#{i}" }
start, before = cpu, GC.stat(:time)
while cpu - start < 0.7
  work(5000); waste(20000)
end
puts "SHARE #{(GC.stat(:time) - before) / 1000.0 / (cpu - start)}"
END

check() { # check NAME COMMAND...
	local name=$1 share
	shift
	for attempt in 1 2 3; do # until stacks were read: a recorder that gets no CPU comes too late
		precord -e cpu-clock -F 999 -o "$name.trace" -- "$@" "collect.$name" >said.txt 2>precord.txt || { cat precord.txt; fail "$name failed"; }
		[ "$(grep -cE 'managed: whole' <(preport script -a -i "$name.trace" 2>/dev/null))" -ge 300 ] && break
	done
	share=$(sed -n 's/^SHARE //p' said.txt)
	preport --by label:gc --format=csv -i "$name.trace" >gc.csv || fail "$name: no report"
	cat said.txt gc.csv
	# Of the samples in waste() and work(): the start has no share in what the program says. Six standard deviations.
	preport folded -i "$name.trace" 2>/dev/null | awk -v said="$share" '
		/;[^;]*(waste|work)/ { all += $NF; if (/;\(garbage collection\)[; ]/) gc += $NF }
		/;<module>;\(garbage collection\)/ { all += $NF; gc += $NF }
		END { n = all / (1e9 / 999); got = n ? gc / all : 0; sigma = n ? sqrt(said * (1 - said) / n) : 0
			printf "%.3f of %d samples collect, %.3f by its own account\n", got, n, said
			exit !(n >= 200 && got > said - 6 * sigma - 0.05 && got < said + 6 * sigma + 0.05) }' || { cat precord.txt; fail "$name: another share"; }
	preport -i "$name.trace" 2>/dev/null >summary.txt
	grep -q 'runtime: .*garbage collection' summary.txt || { cat summary.txt; fail "$name: the summary does not say how much is garbage collection"; }
}

found=
if python=$(command -v python3) && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
	check py "$python"
	found=1
fi
if ruby=$(command -v ruby) && [ "$(uname -m)" = x86_64 ] && "$ruby" -e 'v = RUBY_VERSION.to_f; exit(RUBY_ENGINE == "ruby" && v >= 3.1 && v < 3.4)'; then
	check rb "$ruby"
	found=1
fi
[ "$found" ] || skip "there is no interpreter that says it"
exit 0
