#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Software events on x86-64, as in x86_64.sh, on the newest kernel that the apt of this machine has.
GUEST_KERNEL=newest . "$TOP/tests/guest/x86_64.sh"
