#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row of the unwind tables of the largest libraries and programs at hand is the one that
# readelf shows; and of a set of aarch64 packages, unpacked here. The machine's own package state is
# not touched. Seven minutes on 2 CPUs, most of them readelf's. UNWIND_ROWS names more files.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v python3 >/dev/null || skip 'there is no python3'
command -v readelf >/dev/null || skip 'there is no readelf'

unpack_arm64() { # unpack_arm64 PACKAGE...: into ./arm64, through lists and caches of its own
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
	mkdir -p apt/state/lists/partial apt/cache/archives/partial arm64
	: >apt/status
	local options="-o APT::Architecture=arm64 -o APT::Architectures=arm64
		-o Dir::State=$PWD/apt/state -o Dir::Cache=$PWD/apt/cache
		-o Dir::State::status=$PWD/apt/status -o APT::Sandbox::User=root"
	if ! timeout 120 apt-get $options update >apt/log 2>&1; then
		echo 'no list of arm64 packages: not compared'
		return 0
	fi
	for package; do
		(cd apt && timeout 120 apt-get $options download "$package" >log 2>&1) ||
			echo "no $package for arm64: not compared"
	done
	for package in apt/*.deb; do
		[ ! -e "$package" ] || dpkg-deb -x "$package" arm64
	done
}

own_vdso() {
	python3 - <<-'END'
	import re
	for line in open('/proc/self/maps'):
	    if line.endswith('[vdso]\n'):
	        begin, end = (int(x, 16) for x in re.match('(\\w+)-(\\w+)', line).groups())
	        with open('/proc/self/mem', 'rb') as memory, open('vdso.so', 'wb') as out:
	            memory.seek(begin)
	            out.write(memory.read(end - begin))
	END
}

own_vdso
unpack_arm64 libc6 libstdc++6 libssl3 libpython3.11 libglib2.0-0 libllvm14
if command -v go >/dev/null; then
	for tool in gofmt asm compile; do # those of the distribution have no tables
		GOCACHE=$PWD/gocache timeout 600 go build -o go-$tool cmd/$tool 2>go.log ||
			echo "go cannot build its $tool in time: not compared"
	done
fi
rust=$(command -v rustc >/dev/null && rustc --print sysroot || true)
lib=/usr/lib/x86_64-linux-gnu
node=$(readlink -f "$(command -v node || echo none)")
for file in vdso.so go-gofmt go-asm go-compile "$node" "$rust"/lib/librustc_driver-*.so \
	$lib/libc.so.6 $lib/libstdc++.so.6 $lib/libcrypto.so.3 $lib/libLLVM-*.so* \
	/usr/lib/jvm/java-*/lib/server/libjvm.so arm64/lib/aarch64-linux-gnu/libc.so.6 \
	$(find arm64 -name 'lib*.so*' -type f -size +400k 2>/dev/null) ${UNWIND_ROWS-}; do
	[ ! -f "$file" ] || readlink -f "$file"
done | sort -u >files
grep -q . files || skip 'there is nothing to compare'
xargs -d '\n' "$TOP/tests/e2e/unwind/compare_rows" "$BUILD/tests/tools/cfi_rows" <files
