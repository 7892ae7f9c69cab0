#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The generated bash completion, asked as bash asks it.
set -u
failed=0
PATH=$BUILD:$PATH # the words come from the program

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
		[[ -z $offer ]] || [[ $found == *" $offer "* ]] || { echo "'${words[*]}' does not offer '$offer' but$found"; failed=1; }
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
# Words that the program knows: levels, metrics, events, processes by name, and what the trace at hand holds.
expect preport --by = le : leaf
expect preport --by leaf,mod : leaf,module
expect preport --metric = ip : ipc
expect precord -e cpu- : cpu-clock
expect precord -e task-clock,page-f : task-clock,page-faults
expect precord stat -M branch-m : branch-miss-rate
expect precord -u ro : root
sleep 300 & sleeper=$!
expect precord -p slee : "$sleeper"
expect precord -p "${sleeper:0:1}" : "$sleeper"
kill $sleeper
cat >stacks.folded <<'END'
server;main;ns::Pool::run;ns::Pool::take 5
server;main;handle_request 7
END
expect preport -i stacks.folded annotate hand : handle_request
expect preport --input = stacks.folded --symbol ma : main
expect preport -i stacks.folded --symbol ns :: Pool :: ta : take
expect preport -i stacks.folded --symbol ns :: : Pool::run Pool::take
expect preport -i stacks.folded --comm se : server
expect preport -i missing --symbol ma : ''
# A word of the file is no word of the shell's.
printf '%s 1\n' 'a;$(touch${IFS}hit)' >hostile.folded
answer preport -i hostile.folded --symbol '' >/dev/null
[ ! -e hit ] || { echo "a function's name was run"; failed=1; }
if command -v zsh >/dev/null; then
	for program in precord preport; do
		"$BUILD/$program" --completion=zsh >"_$program" && zsh -n "./_$program" || failed=1
	done
	PATH=$BUILD:$PATH zsh -f -c 'words=(preport -i stacks.folded --symbol "") CURRENT=5
		compset() { :; }; compadd() { print -r -- "${@[5,-1]}"; }
		source <(sed "/^_preport \"/d" _preport); _preport_words functions' >offered 2>&1
	grep -q 'handle_request' offered || { cat offered; echo "zsh has no words"; failed=1; }
fi

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
