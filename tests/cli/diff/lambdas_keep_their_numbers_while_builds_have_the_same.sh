# SPDX-License-Identifier: Apache-2.0
# A lambda is known by its number. Where both sides have the same numbers they are rows of their own; where one has another,
# what was 2 may be 3 now, and they are one row.
printf '%s\n' 'app;main;main::{lambda#1}::operator() 300' 'app;main;main::{lambda#2}::operator() 200' 'app;main;run::$_0::call 60' >a.folded
printf '%s\n' 'app;main;main::{lambda#1}::operator() 310' 'app;main;main::{lambda#2}::operator() 400' 'app;main;run::$_1::call 60' >b.folded
printf '%s\n' 'app;main;main::{lambda#1}::operator() 300' 'app;main;main::{lambda#3}::operator() 200' 'app;main;run::$_0::call 60' >c.folded
for other in b c; do
	preport diff a.folded $other.folded --format=csv 2>/dev/null | cut -d, -f9,10,17 | sort
done
