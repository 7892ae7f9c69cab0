#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the terminal interface 'a' on a function of a script shows its lines, as preport annotate does.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
command -v tmux >/dev/null || skip "tmux is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
cat >burn.py <<'END'
def burn(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

import time
while time.process_time() < 1:
    burn(10000)
END
precord -q -F 499 -- python3 burn.py 2>said
preport --by script --format=csv 2>/dev/null | grep -q '"\?burn' || skip "the script was not read here: $(tail -n 1 said)"

tmux() { command tmux -L "tuis$$" "$@"; }
trap 'tmux kill-server 2>/dev/null' EXIT
sees() { # sees PATTERN: within two minutes, since machines may be slow
	for i in $(seq 1200); do
		tmux capture-pane -p >shown
		grep -qE -- "$1" shown && return
		sleep 0.1
	done
	cat shown
	return 1
}
tmux -f /dev/null new-session -d -x 80 -y 24 "exec bash --norc"
tmux send-keys 'clear; TERM=screen LC_ALL=C.UTF-8 preport tui' Enter
sees 'leaves of ' || fail "it does not open"
tmux send-keys / b u r n Enter
sees '\+ burn .*burn.py' || fail "the script's function is no row"
tmux send-keys a
sees '^burn, .*burn.py:1: ' || fail "what is shown is not the script"
sees '% +4 +total \+= i \* i' || fail "the hot line has no share"
tmux send-keys q
sees '\+ burn .*burn.py' || fail "q does not return"
tmux send-keys q
exit 0
