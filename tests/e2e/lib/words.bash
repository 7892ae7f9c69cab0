# SPDX-License-Identifier: Apache-2.0
# Stacks of interpreters one by one, beside their own word at the same time (tests/programs/words.*). Sourced after recording.bash.

# one_by_one RATE COMMAND...: record it, and compare; the counts of stack_words.py's last line are in variables of these names
one_by_one() {
	local rate=$1
	shift
	precord -v -e cpu-clock -F "$rate" -o words.trace -- "$@" >words.txt 2>precord.txt || { cat precord.txt; fail "it does not run: $*"; }
	preport script --all --no-chain --format=json -i words.trace >words.json 2>preport.txt || { cat preport.txt; fail 'cannot read the trace'; }
	python3 "$TOP/tests/e2e/lib/stack_words.py" words.txt words.json >compared.txt
	shares_right=$?
	[ $shares_right -le 1 ] || { cat compared.txt; fail 'cannot compare'; }
	sed '$d' compared.txt
	read -r compared equal edges functions lines lines_right frames named within read torn late shares shares_inside worst < <(tail -n 1 compared.txt)
}
