#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Software events on x86-64, as in x86_64.sh, on Linux 6.12.
GUEST_KERNEL=6.12 . "$TOP/tests/guest/x86_64.sh"
