#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Software events on x86-64, as in x86_64.sh, on Linux 5.10.
GUEST_KERNEL=5.10 . "$TOP/tests/guest/x86_64.sh"
