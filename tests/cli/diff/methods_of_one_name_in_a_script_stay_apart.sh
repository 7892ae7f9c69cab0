# SPDX-License-Identifier: Apache-2.0
# V8 calls a method of two classes of one file by the same name; the lines are those of the first version, then moved by two.
profile() { # profile LINE LINE FILE
	cat >"$3" <<JSON
{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3]},
{"id":2,"callFrame":{"functionName":"step","scriptId":"1","url":"file:///app/main.js","lineNumber":$1,"columnNumber":1}},
{"id":3,"callFrame":{"functionName":"step","scriptId":"1","url":"file:///app/main.js","lineNumber":$2,"columnNumber":1}}],
"startTime":0,"endTime":4000,"samples":[2,2,3,3],"timeDeltas":[1000,1000,1000,1000]}
JSON
}
profile 2 8 a.cpuprofile
profile 4 10 b.cpuprofile
preport -i a.cpuprofile --by leaf
preport folded -i a.cpuprofile
for to in callgrind speedscope chrome firefox perf-script otlp; do
	preport export -i a.cpuprofile --to $to -o out 2>/dev/null
	preport -i out --by leaf --format=csv 2>/dev/null | grep -o 'step[^,]*' | tr '\n' ' '
	echo $to
done
preport diff a.cpuprofile a.cpuprofile --all --format=csv 2>/dev/null | grep -o 'step[^,]*'
preport diff a.cpuprofile b.cpuprofile --all --format=csv 2>/dev/null | grep -o 'step[^,]*'
