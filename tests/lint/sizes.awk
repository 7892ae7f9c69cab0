# SPDX-License-Identifier: Apache-2.0
# Files past 1,000 lines (or file_max), and functions past 100.
BEGIN {
	if (!file_max)
		file_max = 1000
}
FNR == 1 { start = 0 }
FNR == file_max + 1 { print FILENAME ": more than " file_max " lines: it is looking for its second noun" }
/^\{/ { start = FNR }
/^\}/ {
	if (start && FNR - start - 1 > 100)
		print FILENAME ":" start ": a function of " FNR - start - 1 " lines"
	start = 0
}
