# SPDX-License-Identifier: Apache-2.0
# Succeeds if the text mentions the word in the variable option, as a whole word.
{
	text = $0
	while ((at = index(text, option)) > 0) {
		if (substr(text, at + length(option), 1) !~ /[A-Za-z0-9-]/)
			found = 1
		text = substr(text, at + length(option))
	}
}
END { exit !found }
