# SPDX-License-Identifier: Apache-2.0
# Whatever the paranoid level, everything of all tasks together with kernel code is not for everyone.
[ "$(id -u)" = 0 ] || { echo "becoming an ordinary user needs root" >&2; exit 77; }
level=$(cat /proc/sys/kernel/perf_event_paranoid) || exit 77
[ "$level" = 2 ] || { echo "kernel.perf_event_paranoid is $level, not 2" >&2; exit 77; }
precord -q -e cpu-clock -o t -- true 2>/dev/null || { echo "performance events are not for root here" >&2; exit 77; }
chmod 777 .
cp "$(command -v precord)" . && chmod 755 precord
user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
user ./precord -a -- true
user ./precord -e cpu-clock:k -- true
user ./precord -e cpu-clock -o own.trace -- true 2>&1 | grep 'kernel code'
