#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What people read fits 60 columns, has no colour without a terminal, and tables say the same to an ordinary user.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
"$BUILD/tests/tools/write_trace" precord.trace <"$TOP/tests/data/report/mix.txt"

commands=('' '--by leaf' '--by caller' '--by total' '--by module' '--by line' '--by process,leaf' '--by thread' '--by cmdline'
	'--by script' '--by script-line' '--by entry' '--by runtime' '--by address' '--tree' 'info' 'processes' 'config'
	'diff precord.trace precord.trace' '--help' 'help steps' 'help shares' 'help trust' 'help stacks' 'help symbols'
	'help filters' 'help outputs' 'help terminal' 'annotate --help' 'diff --help' 'tui --help' 'export --help')

# too_wide <FILE: lines of more than 60 characters; commands to type are not broken.
too_wide() { LC_ALL=C.UTF-8 grep -E '^.{61}' | grep -vE '^ +(preport|precord|sudo) '; }

for command in "${commands[@]}"; do
	COLUMNS=60 preport $command >text 2>errors || [ $? = 1 ] || { cat errors; fail "preport $command"; } # 1: the trace lacks it
	too_wide <text && fail "preport $command is wider than 60 columns"
	grep -q $'\033' text && fail "preport $command writes colour where there is no terminal"
done
for command in --help 'stat --help' 'list --help' 'dump --help'; do
	COLUMNS=60 precord $command >text || fail "precord $command"
	too_wide <text && fail "precord $command is wider than 60 columns"
done

# What root and an ordinary user read of one file is the same.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && chmod 644 precord.trace
	for command in '' '--by leaf' '--by process,leaf' info; do
		preport $command >of_root
		HOME=/nonexistent setpriv --reuid=65534 --regid=65534 --clear-groups "$BUILD/preport" $command >of_user 2>errors ||
			{ cat errors; [ -r "$BUILD/preport" ] && fail "preport $command as an ordinary user"; }
		cmp -s of_root of_user || { diff of_root of_user; fail "preport $command differs for an ordinary user"; }
	done
fi
exit 0
