#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
printf 'prog;main;work 30\nprog;main 12\n' >a.folded
preport export -i a.folded --to perf-script
preport export -i a.folded --to speedscope | tail -n 3
