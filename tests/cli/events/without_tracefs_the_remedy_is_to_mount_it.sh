# SPDX-License-Identifier: Apache-2.0
[ "$(id -u)" = 0 ] || { echo "unmounting in a namespace of its own needs root" >&2; exit 77; }
unshare -m bash -c '
	mount --make-rprivate / || exit 77
	grep -E "^[^ ]+ [^ ]+ (tracefs|debugfs) " /proc/self/mounts | cut -d" " -f2 | sort -r | # inner ones first
		while read -r dir; do umount -l "$dir" || exit 77; done
	precord -e sched:sched_switch -- true
' || { status=$?; [ $status = 77 ] || [ $status = 1 ] && { echo "mount points cannot be changed here" >&2; exit 77; }; exit $status; }
