# SPDX-License-Identifier: Apache-2.0
# Compares the modules of the tree with those that architecture.md lists: under a heading "## `folder/`", in front of the colon
# of an item "- `a`, `b`: what they are". Usage: awk -f modules.awk architecture.md MODULE... (paths without .c or .h, sorted)
BEGIN {
	for (i = 2; i < ARGC; i++) {
		tree[ARGV[i]] = 1
		ARGV[i] = ""
	}
}
length($0) > 110 { print FILENAME ":" FNR ": longer than 110 columns" }
/^## / {
	item = 0
	folder = match($0, /`.*\/`/) ? substr($0, RSTART + 1, RLENGTH - 2) : ""
}
/^- / { item = folder != "" }
/^$/ { item = 0 }
item {
	names = $0
	item = !sub(/:.*/, "", names)
	while (match(names, /`[^`]*`/)) {
		listed[folder substr(names, RSTART + 1, RLENGTH - 2)]++
		names = substr(names, RSTART + RLENGTH)
	}
}
END {
	for (module in tree)
		if (!listed[module])
			print "architecture.md does not list " module
	for (module in listed) {
		if (listed[module] > 1)
			print "architecture.md lists " module " " listed[module] " times"
		if (listed[module] && !tree[module])
			print "architecture.md lists " module ", which is not there"
	}
}
