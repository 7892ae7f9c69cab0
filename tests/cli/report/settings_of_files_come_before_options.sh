#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
export PRECORD_CONFIG=config
umask 022
printf '# mine\nlevels = module\nnot-mine = app*\nnative = yes\n' >config
preport config
preport -n 2
preport --by process -n 1
echo 'levls = leaf' >>config
preport
echo $?
chmod 666 config # others can write to it
preport config | tail -1
preport -n 1
