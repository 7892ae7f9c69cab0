# SPDX-License-Identifier: Apache-2.0
printf 'prog;main;work 50\nprog;main;rest 7\n' >a.folded
# What the table of commands lists; without those that read no profile or wait for keys.
for command in $(preport --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
	case $command in
	cache | config | convert | formats | tui) continue ;;
	export) set -- --to firefox ;;
	annotate) set -- work ;;
	debug-unwind) set -- --sample 1 ;;
	diff) set -- a.folded ;;
	strip) set -- --stacks -o stripped ;;
	*) set -- ;;
	esac
	echo "$command" >&2
	preport $command -i a.folded "$@" >/dev/null
	echo "status $?" >&2
done
for what in branch data-type; do
	preport -i a.folded --by $what
	echo "status $?" >&2
done
preport info -i a.folded --sizes
