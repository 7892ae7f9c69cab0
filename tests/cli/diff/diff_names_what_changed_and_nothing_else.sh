# SPDX-License-Identifier: Apache-2.0
stacks() { # stacks CHANGED: five functions with 400 samples each, one with CHANGED
	for name in one two three four five; do echo "prog;main;$name.isra.$1 $((401 + $1 % 7))"; done
	[ "$1" = 0 ] || echo "prog;main;changed $1"
}
stacks 400 >a.folded
stacks 401 >same.folded
stacks 800 >b.folded
stacks 0 >gone.folded
preport diff a.folded same.folded
preport diff a.folded b.folded --scale=none
preport diff a.folded gone.folded --scale=typical
preport diff gone.folded a.folded --scale=typical --format=csv 2>/dev/null | cut -d, -f 1-3,8-12,15-17
preport diff a.folded same.folded b.folded --scale=none
preport diff a.folded b.folded --scale=none --by total --all --limit 2
preport diff a.folded b.folded --scale=none --fail-above=10 >/dev/null; echo "status $?"
preport diff a.folded b.folded --scale=none --fail-above=20 >/dev/null; echo "status $?"
preport diff a.folded same.folded --fail-above=0 >/dev/null; echo "status $?"
preport diff a.folded b.folded --scale=none --format=json | sed -n 1,40p
