# SPDX-License-Identifier: Apache-2.0
# Check the #include lines of sources by the tables "layers" and "libraries", the first two files.
FNR == 1 { file_number++ }
file_number <= 2 && (/^#/ || !NF) { next }
file_number == 1 {
	layer[++nlayers] = $1
	$1 = ""
	allowed[nlayers] = $0
	next
}
file_number == 2 {
	header[++nlibraries] = $1
	place[nlibraries] = $2
	most[nlibraries] = $3
	next
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	for (i = 1; i <= nlayers && FILENAME !~ layer[i]; i++)
		;
	count = split(allowed[i], prefix, " ")
	fine = 0
	for (k = 1; k <= count; k++)
		if (index(part[2], prefix[k]) == 1)
			fine = 1
	if (!fine)
		print FILENAME ":" FNR ": must not include \"" part[2] "\""
}
/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, part, /[<>]/)
	for (i = 1; i <= nlibraries; i++) {
		if (part[2] !~ header[i])
			continue
		if (FILENAME !~ place[i])
			print FILENAME ":" FNR ": <" part[2] "> belongs in " place[i]
		else if (!seen[i, FILENAME]++ && ++users[i] > most[i])
			print FILENAME ":" FNR ": <" part[2] "> is included elsewhere already"
	}
}
