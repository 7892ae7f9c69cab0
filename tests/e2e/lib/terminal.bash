# SPDX-License-Identifier: Apache-2.0
# Shared by the tests that look at a terminal. Sourced, not run.
command -v tmux >/dev/null || skip "tmux is not installed"

server=0
tmux() { command tmux -L "test$$-$server" "$@"; }

# terminal: a new one of 80 by 24 with a shell; the one before ends, which may take a moment.
terminal() {
	tmux kill-server 2>/dev/null
	server=$((server + 1))
	tmux -f /dev/null new-session -d -x 80 -y 24 "exec bash --norc"
}

# sees PATTERN [ABSENT]: the one and not the other, in lines $within; it gets two minutes, since machines may be slow.
sees() {
	local i
	for i in $(seq 1200); do
		tmux capture-pane -p >shown
		sed -n "${within:-1,\$}p" shown >part
		grep -qE -- "$1" part && { [ -z "${2-}" ] || ! grep -qE -- "$2" part; } && return
		sleep 0.1
	done
	cat shown
	return 1
}

key() { tmux send-keys "$@"; }
