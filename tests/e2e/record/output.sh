#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The output file: a recording that does not come about replaces nothing, two recorders do not share a name, and nothing
# that another user puts into the folder is followed, opened or written to.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

complete() { preport -i "$1" info 2>err.txt | grep -q '^File  *complete' || { cat err.txt; fail "$1 is not complete: $2"; }; }

# Wait for FILE to be there, half a minute at most.
appears() {
	for _ in $(seq 600); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	fail "$1 does not appear"
}

# A mistyped command, twice.
precord -q -o good.trace -- true || fail "cannot record"
cp good.trace good
for _ in 1 2; do
	precord -q -o good.trace -- ./no-such-command 2>err.txt
	[ $? = 127 ] || { cat err.txt; fail "a command that is not there"; }
done
cmp good good.trace || fail "a mistyped command replaced a good trace"
[ "$(echo good*)" = 'good good.trace' ] || fail "a mistyped command leaves files: $(ls)"

# While one records, the last file is there, and a second recorder refuses.
mkfifo go
precord -q -o good.trace -- sh -c 'read line <go' & recorder=$!
appears good.trace.part
cmp good good.trace || fail "the last file is gone while the next is written"
precord -q -o good.trace -- true 2>err.txt
[ $? = 125 ] && grep -q "another recorder is writing to 'good.trace'" err.txt || { cat err.txt; fail "a second recorder"; }
echo >go
wait $recorder || fail "the first of two recorders: status $?"
complete good.trace "the first of two recorders"
cmp good good.trace.old || fail "the last file is not kept"

# What a killed recorder leaves is kept, and read.
precord -q -o killed.trace -- sh -c 'echo $PPID >pid; read line <go' 2>/dev/null & recorder=$!
appears pid
until [ -s killed.trace.part ]; do sleep 0.05; done
kill -KILL "$(cat pid)"
wait $recorder 2>/dev/null
echo >go # for the command, which lives
[ ! -e killed.trace ] || fail "a killed recorder leaves killed.trace"
preport -i killed.trace.part info >info.txt 2>&1 || { cat info.txt; fail "what a killed recorder leaves does not read"; }
precord -q -o killed.trace -- true 2>err.txt || { cat err.txt; fail "behind a killed recorder"; }
[ -s killed.trace.part.old ] && [ ! -e killed.trace.part ] || fail "what a killed recorder left is gone"

# An output that is deleted is no output.
precord -o gone.trace -- sh -c 'rm gone.trace.part' 2>err.txt
[ $? = 125 ] && grep -q "the recording is lost: 'gone.trace.part' was removed" err.txt || { cat err.txt; fail "a deleted output"; }
! grep -q 'in gone.trace' err.txt || { cat err.txt; fail "a deleted output is said to be there"; }
[ ! -e gone.trace ] || fail "a deleted output comes back"

# Links.
echo precious >precious
ln -s precious link.trace
precord -q -o link.trace -- true 2>err.txt || { cat err.txt; fail "a link called like the output"; }
[ -f link.trace ] && [ ! -L link.trace ] && [ -L link.trace.old ] || fail "a link is not kept as link.trace.old"
ln -s precious part.trace.part
precord -q -o part.trace -- true 2>err.txt
[ $? = 125 ] || { cat err.txt; fail "a link called like the part is taken"; }
ln -s precious switched.trace.part
precord -q -o switched.trace --switch-output -- true 2>err.txt && fail "--switch-output: a link called like the part is taken"
[ "$(cat precious)" = precious ] || fail "a link was followed"

# Somebody makes links all the time.
mkdir race
(while [ ! -e over ]; do
	ln -sfn ../precious race/r.trace
	ln -sfn ../precious race/r.trace.part
	rm -f race/r.trace race/r.trace.part
done) 2>/dev/null & attacker=$!
for _ in $(seq 40); do precord -q -o race/r.trace -- true 2>err.txt; done
: >over
wait $attacker
[ "$(cat precious)" = precious ] || fail "a link that came at the right moment was followed"

# A folder is none, nor is a block device; a FIFO of somebody else is not written to.
mkdir folder.trace
precord -q -o folder.trace -- true 2>err.txt && fail "a folder is taken"
grep -q 'is a directory' err.txt || { cat err.txt; fail "no word of the folder"; }
[ "$(id -u)" = 0 ] || exit 0
mkfifo planted && chown 12345 planted || fail "cannot make a FIFO of another user"
timeout 60 cat planted >stolen & thief=$!
precord -q -o planted -- true 2>err.txt && fail "a FIFO of another user is taken"
grep -q 'of another user' err.txt || { cat err.txt; fail "no word of the FIFO's owner"; }
kill $thief
[ ! -s stolen ] || fail "a FIFO of another user got something"
mkfifo own
cat own >piped.trace & reader=$!
precord -q -o own -- true 2>err.txt || { cat err.txt; fail "a FIFO of ours"; }
wait $reader
complete piped.trace "through a FIFO"
exit 0
