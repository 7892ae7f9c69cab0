# SPDX-License-Identifier: Apache-2.0
# How finely the tree is cut: see tests/figures, which prints what this counts. Usage: awk -f figures.awk FILE...
# A user of a function is another function that names it, or a table; of a static one only in its own file. A user of a header
# is another module that includes it. Comments and texts do not count.
function module(path) { sub(/\.[ch]$/, "", path); return path }
function use(name, by) { if (!((name, by) in used)) { used[name, by] = 1; users[name]++ } }

FNR == 1 {
	files++
	of = module(FILENAME)
	start = 0
	within = FILENAME ":"
	comment = 0
	folder = FILENAME
	sub(/\/[^\/]*$/, "", folder)
	if (FILENAME ~ /\.c$/ && ++in_folder[folder] > most)
		{ most = in_folder[folder]; fullest = folder }
	if (FILENAME ~ /\.h$/)
		headers[FILENAME] = 0
}
{ lines++ }
/^#include "/ {
	split($0, part, "\"")
	if (module(part[2]) != of && !((part[2], of) in includes)) {
		includes[part[2], of] = 1
		includers[part[2]]++
	}
	next
}
{
	text = $0
	gsub(/"([^"\\]|\\.)*"/, "", text)
	gsub(/\/\*.*\*\//, "", text)
	if (comment) {
		if (!sub(/^.*\*\//, "", text))
			next
		comment = 0
	}
	if (sub(/\/\*.*$/, "", text))
		comment = 1
}
# A definition begins at the left margin: its name is the word before the first parenthesis.
FILENAME ~ /\.c$/ && /^[a-z_].*\(/ && !/;[ \t]*$/ && !/=/ {
	head = text
	static = head ~ /^static/
	if (match(head, /[a-zA-Z_0-9]+\(/)) {
		name = substr(head, RSTART, RLENGTH - 1)
		if (name !~ /^(CLEANUP|TEST|VEC)$/)
			candidate = static ? FILENAME ":" name : name
	}
}
/^\{/ && candidate != "" { start = FNR; within = candidate; plain[candidate] = 1; candidate = "" }
/^\}/ {
	if (start)
		length_of[nfunctions++] = FNR - start - 1
	start = 0
	within = FILENAME ":"
}
{
	while (match(text, /[a-zA-Z_][a-zA-Z_0-9]*/)) {
		word = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		# A declaration is no use: only what stands in functions, and in tables of sources.
		if (start && FNR > start || (FILENAME ~ /\.c$/ && /^[ \t}]/))
			mention[++nmentions] = word SUBSEP FILENAME SUBSEP within
	}
}

END {
	for (i = 1; i <= nmentions; i++) {
		split(mention[i], at, SUBSEP)
		own = at[2] ":" at[1]
		name = own in plain ? own : at[1]
		if (name in plain && name != at[3])
			use(name, at[3])
	}
	for (name in plain) {
		all++
		one += users[name] == 1
	}
	for (name in headers) {
		nheaders++
		header_one += includers[name] == 1
	}
	for (i = 1; i < nfunctions; i++) {
		value = length_of[i]
		for (j = i - 1; j >= 0 && length_of[j] > value; j--)
			length_of[j + 1] = length_of[j]
		length_of[j + 1] = value
	}
	printf "lines\t%d\n", lines
	printf "files\t%d\n", files
	printf "files a thousand lines\t%.1f\n", 1000 * files / lines
	printf "sources of the fullest folder\t%d (%s)\n", most, fullest
	printf "functions\t%d\n", all
	printf "function lines, median and 95 %%\t%d, %d\n", length_of[int(nfunctions / 2)], length_of[int(nfunctions * 0.95)]
	printf "functions with one user\t%.0f %%\n", 100 * one / all
	printf "headers with one user\t%.0f %%\n", 100 * header_one / nheaders
}
