#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names, lines and inlined calls of large binaries are llvm-symbolizer's: 5,000 random addresses of each, and what
# a recording of each at work sampled. Every difference must have a reason that compare_names can verify.
# Debug information that nobody here wrote comes from packages, unpacked here: the kernel's vmlinux, the JVM, CPython.
# alone
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
for tool in llvm-symbolizer readelf python3; do
	command -v $tool >/dev/null || skip "there is no $tool"
done
status=0 compared=0

compare() { # compare FILE random|ADDRESSES
	"$TOP/tests/e2e/symbols/compare_names" "$BUILD/tests/tools/symbol_probe" "$(readlink -f "$1")" "$2" 5000 || status=1
	compared=$((compared + 1))
}

# sampled FILE COMMAND...: of what COMMAND ran, up to 5,000 addresses in the module that FILE is or has debug information of.
sampled() {
	local file=$1 module=${module:-${1##*/}}
	shift
	if ! precord -q -F 5000 -o work.trace -- "$@" >work.log 2>&1; then
		echo "$module: cannot be recorded here: $(tail -n 1 work.log)"
		return 0
	fi
	preport -i work.trace --by address --module "$module" --no-inline -n 0 --format csv 2>/dev/null | columns address | sort -u | head -n 5000 >sampled
	if [ "$(wc -l <sampled)" -lt 100 ]; then
		echo "$module: only $(wc -l <sampled) addresses were sampled"
		return 0
	fi
	compare "$file" sampled
}

fetch() { # fetch PACKAGE: unpack it below ./root
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
	rm -rf fetched
	mkdir -p fetched root
	(cd fetched && timeout 300 apt-get download "$1" >../fetch.log 2>&1) && dpkg-deb -x fetched/*.deb root || { echo "no package $1"; return 1; }
	rm -rf fetched
}

if fetch python3.11-dbg; then
	compare root/usr/bin/python3.11d random
	sampled root/usr/bin/python3.11d root/usr/bin/python3.11d -W ignore -c 'import ast, glob
for f in glob.glob("/usr/lib/python3.11/*.py")[:60]: ast.dump(ast.parse(open(f, errors="replace").read()))'
fi

if command -v rustc >/dev/null; then
	rustc -O -g -C lto=fat -C codegen-units=1 "$TOP/tests/oracles/subject.rs" -o rust-lto
	rustc -O -g "$TOP/tests/oracles/subject.rs" -o rust
	compare rust random
	compare rust-lto random
	sampled rust-lto ./rust-lto
fi

if command -v go >/dev/null && GOCACHE=$PWD/gocache timeout 280 go build -o gofmt cmd/gofmt 2>go.log; then
	compare gofmt random
	sampled gofmt ./gofmt -l "$(go env GOROOT)/src/runtime" "$(go env GOROOT)/src/net"
fi

if command -v g++ >/dev/null; then
	subject=$TOP/tests/e2e/symbols/subject.cpp
	g++ -std=c++17 -O2 -g -flto -static "$subject" -o cxx-lto && compare cxx-lto random
	! command -v clang++ >/dev/null || { clang++ -std=c++17 -O2 -gdwarf-5 -gsplit-dwarf "$subject" -o cxx-split && compare cxx-split random; }
fi

if fetch openjdk-17-dbg && fetch openjdk-17-jre-headless; then
	libjvm=$(find root/usr/lib/jvm -name libjvm.so -path '*server*')
	id=$(readelf -n "$libjvm" | sed -n 's/.*Build ID: //p')
	debug=root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	compare "$debug" random
	# Its configuration is links to /etc, where an installed one would have it.
	java=${libjvm%/lib/server/libjvm.so}
	find "$java" -type l | while read -r link; do
		to=$(readlink "$link")
		[ "${to#/etc/}" = "$to" ] || ln -sf "$PWD/root$to" "$link"
	done
	module=libjvm.so sampled "$debug" "$java/bin/java" -Xcomp -XX:TieredStopAtLevel=4 -version
fi

# 280 MB to fetch, 600 MB unpacked.
kernel=$(apt-cache depends linux-image-cloud-amd64-dbg 2>/dev/null | sed -n 's/.*Depends: //p' | head -n 1)
if [ -n "$kernel" ] && [ "$(df -Pm . | awk 'END { print $4 }')" -gt 4000 ] && mkdir -p fetched && (cd fetched && timeout 400 apt-get download "$kernel" >../fetch.log 2>&1); then
	dpkg-deb --fsys-tarfile fetched/*.deb | tar -x --wildcards './usr/lib/debug/boot/vmlinux-*'
	compare usr/lib/debug/boot/vmlinux-* random
fi

[ $compared -gt 0 ] || skip 'nothing to compare could be had'
exit $status
