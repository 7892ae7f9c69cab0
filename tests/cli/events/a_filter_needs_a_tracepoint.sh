# SPDX-License-Identifier: Apache-2.0
precord -e cpu-clock --filter 'prev_pid > 1' -- true
