#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --cut without a file, a sample that is not there, and one that the filters leave out.
trace=$DATA/unwind/signal-handler.trace
preport -i "$trace" debug-unwind --cut 1
preport -i "$trace" debug-unwind --sample 2
preport -i "$trace" debug-unwind --sample 1 --pid 77
preport -i "$trace" debug-unwind --sample 1 nowhere
preport -i "$trace" debug-unwind --cut 1 missing/file
