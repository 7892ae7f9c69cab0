# SPDX-License-Identifier: Apache-2.0
[ -r /proc/sys/kernel/perf_event_max_sample_rate ] || { echo "no performance events here" >&2; exit 77; }
precord -F 999999999 -- true 2>&1 | sed 's/limit is [0-9]*/limit is N/'
precord -F fast -- true
precord -c 0 -- true
