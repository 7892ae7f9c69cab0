#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sampling exactly, as in sampling.sh, on Linux 6.12.
GUEST_KERNEL=6.12 . "$TOP/tests/guest/sampling.sh"
