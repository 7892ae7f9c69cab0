#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" a.trace <"$DATA/report/mix.txt"
preport info -i a.trace >expected
preport a.trace info >found
cmp expected found && echo same
preport a.trace annotate
echo $?
preport annotate a.trace main
echo $?
touch info # a file of a command's name is a file
preport a.trace info
echo $?
