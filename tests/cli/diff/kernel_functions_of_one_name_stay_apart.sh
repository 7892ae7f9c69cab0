# SPDX-License-Identifier: Apache-2.0
# Two functions "step" of the kernel and two "init_once" of a module, in every output; and across a boot, after which they
# lie elsewhere (KASLR).
cat >a.txt <<'X'
event cycles events 1000
process 5 app
module [kernel.kallsyms]_text 0304 ffffffff81000000 1000000
module [ext4] 0102 ffffffffc0000000 1000
ksym  ffffffff81000000 100 step
ksym  ffffffff81000100 100 other
ksym  ffffffff81000200 100 step
ksym [ext4] ffffffffc0000000 100 init_once
ksym [ext4] ffffffffc0000100 100 ext4_readdir
ksym [ext4] ffffffffc0000200 100 init_once
at 0
ksample 0 5 5 0 1000 30 ffffffff81000010
ksample 0 5 5 0 1000 20 ffffffff81000210
ksample 0 5 5 0 1000 7 ffffffffc0000010
ksample 0 5 5 0 1000 3 ffffffffc0000210
ksample 0 5 5 0 1000 4 ffffffff81000110
ksample 0 5 5 0 1000 4 ffffffffc0000110
X
sed 's/ffffffff81/ffffffffa1/; s/ffffffffc0/ffffffffc5/' a.txt >b.txt
for trace in a b; do
	"$BUILD/tests/tools/write_trace" $trace.trace <$trace.txt
done
preport -i a.trace --by leaf
preport folded -i a.trace
preport flamegraph -i a.trace --svg --width 3000 -o a.svg 2>/dev/null
preport pprof -i a.trace -o a.pb.gz 2>/dev/null && preport folded -i a.pb.gz >a.pprof
for to in callgrind perf-script speedscope chrome firefox; do
	preport export -i a.trace --to $to -o a.$to 2>/dev/null
done
for to in svg pprof callgrind perf-script speedscope chrome firefox; do
	for name in 'step (0xffffffff81000000)' 'step (0xffffffff81000200)' 'init_once (0xffffffffc0000000)' 'init_once (0xffffffffc0000200)'; do
		grep -qF "$name" a.$to || echo "$to has no $name"
	done
done
preport diff a.trace b.trace --format=csv 2>/dev/null | cut -d, -f9,10,17,18
