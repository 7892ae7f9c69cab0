# SPDX-License-Identifier: Apache-2.0
printf 'a;b 10\n' >a.folded
try() { preport diff "$@"; echo "status $?"; }
try a.folded
try a.folded missing.folded
try a.folded a.folded --scale=time
try a.folded a.folded --scale=typical
try a.folded a.folded --fail-above=x
try a.folded a.folded --same-module=x
try a.folded a.folded --by address
try a.folded a.folded --by line
try a.folded a.folded --time=1,2 --time-a=1,2
try a.folded a.folded a.folded --flamegraph -o d.html
try a.folded a.folded -o d.html
