#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sampling exactly, as in sampling.sh, on Linux 5.10.
GUEST_KERNEL=5.10 . "$TOP/tests/guest/sampling.sh"
