#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which request a PHP worker answered: --by label:uri has the shares of the work, without what follows a question mark.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
php=$(command -v php) || skip "there is no php"
php -r 'exit(PHP_VERSION_ID >= 80600 || PHP_ZTS && PHP_VERSION_ID < 70400 ? 1 : 0);' || skip "this php is too new, or has thread safety before 7.4"
command -v curl >/dev/null || skip "there is no curl"
grep -q sapi_globals "$(readlink -f "$php")" || skip "this php has no symbols"

server=
trap 'kill $server 2>/dev/null' EXIT
for port in $(shuf -i 20000-32000 -n 20); do
	php -S "127.0.0.1:$port" "$TOP/tests/programs/request.php" >server.txt 2>&1 & server=$!
	for _ in $(seq 200); do
		grep -q 'started' server.txt && break 2
		kill -0 $server 2>/dev/null || break
		sleep 0.05
	done
	kill $server 2>/dev/null
done
kill -0 $server 2>/dev/null || { cat server.txt; skip "no port is free"; }
for attempt in 1 2 3; do # until stacks were read: a recorder that gets no CPU comes too late
	precord -p $server -e cpu-clock -F 999 -o r.trace -v -- sh -c "curl -s 'http://127.0.0.1:$port/slow?password=hunter2' && curl -s http://127.0.0.1:$port/fast" >said.txt 2>precord.txt || { cat precord.txt; fail "requests failed"; }
	preport --by label:uri --format=csv -i r.trace >uri.csv 2>err.txt && [ "$(columns uri samples <uri.csv | awk '$1 ~ "^/" { n += $2 } END { print n + 0 }')" -ge 300 ] && break
done
cat uri.csv
total=$(columns uri samples <uri.csv | awk '$1 ~ "^/" { n += $2 } END { print n + 0 }')
[ "${total:-0}" -ge 300 ] || few_stacks precord.txt
# Six standard deviations, and what the server itself needs.
columns uri samples <uri.csv | awk -v n="$total" '$1 == "/slow" { slow = $2 } $1 == "/fast" { fast = $2 }
	END { sigma = sqrt(n * 3 / 16); exit !(slow + fast == n && slow > n * 0.75 - 6 * sigma - n / 50 && slow < n * 0.75 + 6 * sigma + n / 50) }' ||
	fail "the requests have not their shares"
preport --by label:method --format=csv -i r.trace 2>/dev/null | grep -q ',GET' || fail "the method is not there"
preport --by label:script,script --format=csv -i r.trace 2>/dev/null | grep 'request.php' | grep -q work || fail "the script is not there"
preport script -a -i r.trace 2>/dev/null | grep -q hunter2 && fail "what follows the question mark was recorded"
exit 0
