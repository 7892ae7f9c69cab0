# SPDX-License-Identifier: Apache-2.0
# Prints each include of a source that uses no name of what it includes: "FILE includes HEADER for nothing".
# Names of a header are its macros, functions, structs, enums and their constants, and what it declares extern. Its own
# header may be there for what that includes. Usage: awk -f includes.awk FILE...
FNR == 1 { comment = 0; listing = 0; is_source = FILENAME ~ /\.c$/ }

is_source && /^#include "/ {
	split($0, part, "\"")
	own = FILENAME
	sub(/\.c$/, ".h", own)
	if (part[2] != own)
		includes[FILENAME] = includes[FILENAME] " " part[2]
	next
}
/^#include/ { next }
{
	text = $0
	gsub(/"([^"\\]|\\.)*"/, "", text)
	gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, "", text)
	if (comment) {
		if (!sub(/^.*\*\//, "", text))
			next
		comment = 0
	}
	if (sub(/\/\*.*$/, "", text))
		comment = 1
}
is_source {
	while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
		used[FILENAME, substr(text, RSTART, RLENGTH)] = 1
		text = substr(text, RSTART + RLENGTH)
	}
	next
}
{
	all = text ~ /^#[ \t]*define|^enum|^extern/ || listing
	if (text ~ /^(enum|extern)/)
		listing = 1
	if (text ~ /;/)
		listing = 0
	before = ""
	while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
		word = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		if (all || before ~ /^(struct|enum|union|typedef)$/ || text ~ /^\(/)
			names[FILENAME] = names[FILENAME] " " word
		before = word
	}
}

END {
	for (file in includes) {
		count = split(includes[file], header, " ")
		for (i = 1; i <= count; i++) {
			total = split(names[header[i]], name, " ")
			found = total == 0 # generated, or not among the files
			for (j = 1; j <= total && !found; j++)
				found = (file, name[j]) in used
			if (!found)
				print file " includes " header[i] " for nothing"
		}
	}
}
