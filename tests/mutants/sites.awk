# SPDX-License-Identifier: Apache-2.0
# Where one token of C can be changed into its opposite: "FILE<tab>LINE<tab>COLUMN<tab>LENGTH<tab>NEW" a line.
# Comments, strings, preprocessor lines and declarations of pointers are left alone.

BEGIN {
	OFS = "\t"
	n = split("<= < >= > == != && || + - true false if", tokens, " ")
	split("< <= > >= != == || && - + false true if!", changes, " ")
}

FNR == 1 { comment = 0 }
/^#/ || /\\$/ { next }

# @text with what is no code as blanks, so that columns stay.
function code_of(text,    out, i, c, two, quote) {
	out = ""
	quote = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		two = substr(text, i, 2)
		if (comment) {
			if (two == "*/") { comment = 0; out = out " "; i++ }
			out = out " "
		} else if (quote != "") {
			if (c == "\\") { out = out " "; i++ }
			else if (c == quote) quote = ""
			out = out " "
		} else if (two == "/*") {
			comment = 1
			out = out "  "
			i++
		} else if (c == "\"" || c == "'") {
			quote = c
			out = out " "
		} else
			out = out c
	}
	return out
}

{
	code = code_of($0)
	for (t = 1; t <= n; t++) {
		# Operators as the formatter sets them: with a blank on each side.
		wanted = tokens[t] == "if" ? "if (" : tokens[t] ~ /^[a-z]/ ? tokens[t] : " " tokens[t] " "
		for (from = 1; (at = index(substr(code, from), wanted)) > 0; from = column + length(wanted)) {
			column = from + at - 1
			if (tokens[t] == "if")
				print FILENAME, FNR, column, 4, "if (!"
			else if (wanted ~ /^ /)
				print FILENAME, FNR, column + 1, length(tokens[t]), changes[t]
			else if (substr(code, column - 1, 1) !~ /[A-Za-z0-9_]/ && substr(code, column + length(wanted), 1) !~ /[A-Za-z0-9_]/)
				print FILENAME, FNR, column, length(wanted), changes[t]
		}
	}
}
