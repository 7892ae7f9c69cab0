#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the terminal interface 'a' on a function of a script shows its lines, as preport annotate does.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
. "$TOP/tests/e2e/lib/terminal.bash"
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

trap 'tmux kill-server 2>/dev/null' EXIT
terminal
key 'clear; TERM=screen LC_ALL=C.UTF-8 preport tui' Enter
sees 'leaves of ' || fail "it does not open"
key / b u r n Enter
sees '\+ burn .*burn.py' || fail "the script's function is no row"
key a
sees '^burn, .*burn.py:1: ' || fail "what is shown is not the script"
sees '% +4 +total \+= i \* i' || fail "the hot line has no share"
key q
sees '\+ burn .*burn.py' || fail "q does not return"
key q
exit 0
