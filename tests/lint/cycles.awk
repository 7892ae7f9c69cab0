# SPDX-License-Identifier: Apache-2.0
# Prints each group of modules that include each other, directly or by way of others: one line "cycle: A B C".
# A module is a source and its header of the same name: foo.c and foo.h are foo.
# With folders=1 the same for folders: "cycle: A B", then "  FILE includes HEADER" for an include of each arrow in it.
# Usage: awk [-v folders=1] -f cycles.awk FILE...
function module(path) { sub(folders ? "/[^/]*$" : "\\.[ch]$", "", path); return path }

FNR == 1 { of = module(FILENAME); known[of] = 1 }

/^#include "/ {
	split($0, part, "\"")
	to = module(part[2])
	if (to != of && !((of, to) in edge)) {
		edge[of, to] = FILENAME " includes " part[2]
		out[of] = out[of] " " to
	}
}

# Marks what is reached from @from along edges in both directions' lists: @next is out or its reverse.
function reach(from, list, marks,    queue, head, tail, n, i, to, names) {
	head = 0; tail = 0
	queue[tail++] = from
	while (head < tail) {
		n = split(list[queue[head++]], names, " ")
		for (i = 1; i <= n; i++) {
			to = names[i]
			if (to in known && !(to in marks)) {
				marks[to] = 1
				queue[tail++] = to
			}
		}
	}
}

END {
	for (pair in edge) {
		split(pair, end, SUBSEP)
		into[end[2]] = into[end[2]] " " end[1]
	}
	for (name in known)
		sorted[++count] = name
	for (i = 2; i <= count; i++) { # in order of names, so that the output does not change by itself
		name = sorted[i]
		for (j = i - 1; j > 0 && sorted[j] > name; j--)
			sorted[j + 1] = sorted[j]
		sorted[j + 1] = name
	}
	for (i = 1; i <= count; i++) {
		if (sorted[i] in done)
			continue
		split("", forth); split("", back)
		reach(sorted[i], out, forth)
		if (!(sorted[i] in forth)) # it does not come back to itself
			continue
		reach(sorted[i], into, back)
		line = "cycle:"
		for (j = 1; j <= count; j++)
			if (sorted[j] in forth && sorted[j] in back) {
				line = line " " sorted[j]
				done[sorted[j]] = 1
			}
		print line
		for (j = 1; folders && j <= count; j++)
			for (k = 1; k <= count; k++)
				if ((sorted[j], sorted[k]) in edge && sorted[j] in forth && sorted[j] in back && sorted[k] in forth && sorted[k] in back)
					print "  " edge[sorted[j], sorted[k]]
	}
}
