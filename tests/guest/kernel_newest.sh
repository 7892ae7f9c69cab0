#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sampling exactly, as in sampling.sh, on the newest kernel that the apt of this machine has.
GUEST_KERNEL=newest . "$TOP/tests/guest/sampling.sh"
