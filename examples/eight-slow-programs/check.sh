#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of eight slow programs is made, and each part names what makes its program slow.
set -u
skip() { echo "$*"; exit 77; }
"$BUILD/precord" -q -F 99 -o try.trace -- true 2>/dev/null || skip "events cannot be opened"
EIGHT_DIR=$PWD/eight "$TOP/examples/eight-slow-programs/make-page" >page.md || { cat page.md; exit 1; }
failed=0
part() { sed -n "/^## $1/,/^## /p" page.md; }
names() { # names PART PATTERN: unless that part was left out
	part "$1" >part
	[ -s part ] || { echo "'$1' was left out"; return; }
	grep -q '^Left out' part && return
	grep -qE -- "$2" part || { echo "'$1' does not say: $2"; cat part; failed=1; }
}
names 'A Python script' 'distance +words.py'
names 'A Java program' 'Slow.(collatz|longest)'
names 'A Node server' ' samples of '
names 'PostgreSQL' 'where threads wait|blocked'
names 'C++ templates' 'store::|Index|main'
names 'A contended lock' 'update_all'
names 'A contended lock' 'waits for: lock'
names 'Page faults' 'touch_pages'
names 'Page faults' 'read_bytes'
names 'A shell script' 'processes'
exit $failed
