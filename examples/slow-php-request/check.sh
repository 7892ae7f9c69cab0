#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of the slow PHP request is made, and each command names what it names there: the line that waits, its request and its callers.
set -u
skip() { echo "$*"; exit 77; }
"$BUILD/precord" -q -F 99 -o try.trace -- true 2>/dev/null || skip 'events cannot be opened'
CUSTOMERS=20000 ORDERS=100000 SECONDS_EACH=2 "$TOP/examples/slow-php-request/make-page" >page.md || {
	status=$?
	tail -n 20 page.md
	exit $status
}
failed=0
says() { # says COMMAND PATTERN: what that command of the page printed has a line with it
	sed -n "/^    \\$ .*$1/,/^    \\$ /p" page.md >part
	grep -qE -- "$2" part || { echo "wrong: '$1' does not say: $2"; cat part; failed=1; }
}
line=$(grep -n pg_query_params "$TOP/examples/slow-php-request/site.php" | cut -d: -f1)
says 'precord dump' "Report::totals \(/srv/site.php:[0-9]+\)"
says '--idle' ' waiting; see --event idle'
says 'label:uri' ' /report$'
says 'label:uri' " /srv/site.php:$line +Db::rows"
says 'callers-of' 'Report::orders +site.php'
exit $failed
