#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
echo 'event cpu-clock ns 99' | "$BUILD/tests/tools/write_trace" precord.trace
preport
