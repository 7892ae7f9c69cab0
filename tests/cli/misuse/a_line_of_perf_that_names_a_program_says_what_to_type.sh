# SPDX-License-Identifier: Apache-2.0
# diff and script are programs as well: here there are some of these names.
mkdir programs
for name in diff script; do
	printf '#!/bin/sh\necho %s ran\n' $name >programs/$name
	chmod +x programs/$name
done
export PATH=$PWD/programs:$PATH
for line in script 'script record x' 'script report x' diff 'diff a.trace b.trace' 'diff perf.data.old perf.data' \
	'stat record ls' 'stat report' 'stat -D -1 -- true' 'stat -D x -- true' 'top --call-graph lbr' \
	'-e cpu-clock/call-graph=lbr/ -- true' 'list metric' 'list sdt'; do
	"$BUILD/precord" $line && echo "not refused: $line"
done
preport script record x
preport script report x
preport annotate main other
