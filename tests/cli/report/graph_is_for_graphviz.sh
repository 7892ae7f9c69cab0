#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport graph --nodes 4 --min-edge 20
preport graph --min-node 101
mkdir empty && PATH=$PWD/empty /bin/bash -c "'$BUILD/preport' graph -o picture.svg"
ls
