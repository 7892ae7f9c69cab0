#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The generated bash completion, asked as bash asks it.
set -u
failed=0

answer() { # answer WORD...: what is offered for the last word
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	"_$1" 2>/dev/null
	printf '%s ' "${COMPREPLY[@]}"
}

expect() { # expect WORDS... : OFFERED...
	local words=() found
	while [ "$1" != : ]; do words+=("$1"); shift; done
	shift
	found=" $(answer "${words[@]}") "
	for offer; do
		[[ $found == *" $offer "* ]] || { echo "'${words[*]}' does not offer '$offer' but$found"; failed=1; }
	done
}

for program in precord preport; do
	"$BUILD/$program" --completion=bash >"$program.bash" || exit 1
	. "./$program.bash"
	complete -p "$program" >/dev/null || failed=1
done
touch run.trace
expect preport anno : annotate
expect preport '' : annotate folded pprof
expect preport annotate --by : --bytes
expect preport --format = '' : text csv json
expect preport -i run : run.trace
expect preport --sym : --symbol=
expect precord li : list
expect precord -o run : run.trace
# Every option of every command is offered behind that command.
for program in precord preport; do
	while read -r command option; do
		[ "$command" = "$program" ] && command=
		[[ $option == --* ]] || continue
		answer "$program" $command "$option" | grep -qE -- "(^| )$option(=| )" ||
			{ echo "$program $command $option is not offered"; failed=1; }
	done < <("$BUILD/$program" --options)
done
exit $failed
