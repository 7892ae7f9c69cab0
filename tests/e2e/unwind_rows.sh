#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row of the unwind tables of libraries of this machine, and of aarch64 ones where they are installed, is
# the one that readelf shows. UNWIND_ROWS names more files.
set -eu
command -v python3 >/dev/null || { echo 'there is no python3'; exit 77; }
command -v readelf >/dev/null || { echo 'there is no readelf'; exit 77; }
files=$(ldd "$BUILD/preport" | sed -n 's/.* => \(\/[^ ]*libc\.so[^ ]*\|\/[^ ]*libcapstone[^ ]*\|\/[^ ]*libzstd[^ ]*\) .*/\1/p')
for file in /lib64/ld-linux-x86-64.so.2 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /bin/bash \
	/usr/aarch64-linux-gnu/lib/libc.so.6 /usr/aarch64-linux-gnu/lib/libstdc++.so.6 ${UNWIND_ROWS-}; do
	[ ! -e "$file" ] || files="$files $file"
done
"$TOP/tests/e2e/unwind/compare_rows" "$BUILD/tests/tools/cfi_rows" $files
