#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The help of each command names a manual page that exists and shows at least two examples, whose options it has.
set -u
. "$TOP/tests/e2e/lib/recording.bash"

# commands_of PROGRAM: the words that its help lists as commands.
commands_of() { "$BUILD/$1" --help | sed -n '/^commands:/,/^$/p' | awk '/^  [a-z]/ { print $1 }'; }

# examples_of <HELP: the commands of its examples, without what explains them.
examples_of() { sed -n '/^examples:/,/^$/p' | sed -n 's/^  //p' | sed 's/   *.*//; s/ && .*//; s/ | .*//; s/ >>*.*//'; }

# try LINE: is it parsed? With --help behind its options nothing is done.
try() {
	local words
	eval "words=($(sed 's/ -- .*//' <<<"$1"))"
	"$BUILD/${words[0]}" "${words[@]:1}" --help >out 2>errors || { cat errors; fail "not parsed: $1"; }
}

for program in preport precord; do
	for command in '' $(commands_of $program); do
		"$BUILD/$program" $command --help >help || fail "$program $command --help"
		page=$(sed -n 's/^Manual: \([a-z-]*\)(\([15]\))$/\1.\2/p' help)
		[ -n "$page" ] && [ -e "$TOP/Documentation/man/$page" ] || fail "$program $command names no manual page ('$page')"
		examples_of <help >examples
		[ "$(wc -l <examples)" -ge 2 ] || fail "$program $command shows fewer than two examples"
		while read -r line; do
			case $line in preport* | precord*) try "$line" ;; esac
		done <examples
	done
done

for page in "$TOP"/Documentation/man/*.[1-9]; do
	grep -q '^\.Sh EXAMPLES$' "$page" || fail "${page##*/} has no examples"
done
