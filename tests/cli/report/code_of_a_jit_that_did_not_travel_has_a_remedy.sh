#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A perf map named the functions; nothing kept their code.
"$BUILD/tests/tools/write_trace" mix.trace <"$DATA/report/mix.txt"
preport -i mix.trace annotate hot
