# SPDX-License-Identifier: Apache-2.0
# Java's stacks one by one, beside what HotSpot says itself at the same instruction (tests/programs/agct.c). Sourced after recording.bash.

need_agct() {
	[ "$(uname -m)" = x86_64 ] || skip "rules for Java's code are x86-64's"
	[ "$(id -u)" = 0 ] || skip "only root may record tracepoints for sure"
	command -v javac >/dev/null || skip 'there is no javac here'
	command -v python3 >/dev/null || skip 'there is no python3 here'
	local home
	home=$(readlink -f "$(command -v javac)")
	home=${home%/bin/javac}
	${CC:-cc} -O1 -shared -fPIC -I"$home/include" -I"$home/include/linux" "$TOP/tests/programs/agct.c" -o libagct.so >agent.log 2>&1 ||
		skip "the agent cannot be built: $(head -n 1 agent.log)"
	precord -q -e signal:signal_deliver --filter 'sig == 27' -o try.trace -- true 2>try.err || skip "tracepoints cannot be recorded: $(head -n 1 try.err)"
}

# agct JAVA ARG...: run it, and compare; the counts of agct.py's last line are in variables of these names
agct() {
	local java=$1
	shift
	rm -f truth
	precord -q -m "${AGCT_RING:-4M}" -e signal:signal_deliver --filter 'sig == 27' -o agct.trace -- \
		"$java" -agentpath:"$PWD"/libagct.so="$PWD"/truth "$@" >agct.log 2>agct.err
	[ -s truth ] || { tail -n 5 agct.err; fail "$java says nothing"; }
	preport script --format=json -i agct.trace >agct.json 2>/dev/null || fail 'cannot read the trace'
	python3 "$TOP/tests/e2e/lib/agct.py" truth agct.json >agct.out || fail 'cannot compare'
	read -r compared equal explained callers caller_lines leaves leaf_lines rooted all frames named < <(tail -n 1 agct.out)
}
