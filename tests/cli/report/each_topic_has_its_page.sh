#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
preport help | awk '/^topics:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' | while read -r topic; do
	preport help "$topic" >page || exit
	printf '%s: %s, widest %d\n' "$topic" "$(head -n 1 page)" "$(wc -L <page)"
	# What a page names, there is.
	grep -oE '(^|[ "])preport [a-z-]+' page | awk '{ print $NF }' | sort -u | while read -r command; do
		case $command in
		help | --*) ;;
		*) preport "$command" --help >/dev/null || echo "no $command" ;;
		esac
	done
done
