#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names, lines and inlined calls of large binaries are llvm-symbolizer's: what symbol_probe says of
# 5,000 random addresses of each, and what preport says of those that recordings of them at work
# hold, leaves and callers. Every difference must have a reason that compare_names can verify. Debug
# information that nobody here wrote comes from packages, unpacked here: CPython, the JVM, the C
# library, the kernel's vmlinux. SUBJECTS="rust go" does only these. Four minutes on 2 CPUs.
# alone
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
for tool in llvm-symbolizer readelf objdump python3; do
	command -v $tool >/dev/null || skip "there is no $tool"
done
status=0 compared=0
names=$TOP/tests/e2e/symbols/compare_names

compare() { # compare FILE [ORACLE]: random addresses
	"$names" "$BUILD/tests/tools/symbol_probe" "$(readlink -f "$1")" "${@:2}" || status=1
	compared=$((compared + 1))
}

record() { # record COMMAND...: what it runs, to recorded.json; false if that can't be done here
	precord -q -F 4999 -o work.trace -- "$@" >work.log 2>&1 || {
		echo "$1: cannot be recorded here: $(tail -n 1 work.log)"
		return 1
	}
	preport -i work.trace script --format json --no-demangle --no-cache \
		--debug-dir="$PWD/root/usr/lib/debug" >recorded.json 2>work.log
}

# recorded MODULE FILE [BINARY]: the addresses of the last recording in MODULE, which FILE has debug
# information of.
recorded() {
	"$names" --recorded "$@" <recorded.json || status=1
	compared=$((compared + 1))
}

fetch() { # fetch PACKAGE: unpack it below ./root
	rm -rf fetched
	mkdir -p fetched root
	(cd fetched && timeout 400 apt-get download "$1" >../fetch.log 2>&1) &&
		dpkg-deb -x fetched/*.deb root && rm -rf fetched && return
	echo "no package $1: $(tail -n 1 fetch.log)"
	return 1
}

debug_file() { # debug_file BINARY: where a package has its debug information
	local id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p') root
	for root in root ''; do
		root=$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
		[ ! -e "$root" ] || { echo "$root"; return; }
	done
}

# The C library is under every one of the others.
libc_too() {
	local libc=$(ldd /bin/sh | sed -n 's/.* => \(.*libc\.so\.6\) .*/\1/p')
	local debug=$(debug_file "$libc")
	[ -z "$debug" ] || recorded libc.so.6 "$debug" "$libc"
}

try_python() {
	fetch python3.11-dbg || return 0
	local python=root/usr/bin/python3.11d
	compare $python
	record $python -W ignore -c 'import ast, glob, json, re, xml.dom.minidom, difflib, zlib
import hashlib, decimal
files = glob.glob("/usr/lib/python3.11/*.py")[:60]
for f in files:
    text = open(f, errors="replace").read()
    tree = ast.dump(ast.parse(text))
    json.loads(json.dumps(re.findall(r"(\w+)\((.*?)\)", tree)))
    compile(text, f, "exec")
    "".join(sorted(set(text.upper().split()))).encode("utf-16").decode("utf-16")
    zlib.decompress(zlib.compress(text.encode())), hashlib.sha3_256(text.encode()).digest()
list(difflib.unified_diff(open(files[0]).readlines(), open(files[1]).readlines()))
xml.dom.minidom.parseString("<a>" + "<b c=\"d\">e</b>" * 3000 + "</a>").toprettyxml()
sum(decimal.Decimal(i) / 7 for i in range(9000))' || return 0
	recorded python3.11d $python
	libc_too
	# dwz moves what units share; llvm-symbolizer 14 can't follow everywhere, but what is said
	# must not change.
	command -v dwz >/dev/null || return 0
	cp $python python-dwz
	dwz python-dwz && compare python-dwz $python
}

try_rust() {
	command -v rustc >/dev/null || { echo 'no rustc'; return 0; }
	rustc -O -g -C lto=fat -C codegen-units=1 "$TOP/tests/oracles/subject.rs" -o rust-lto
	rustc -g "$TOP/tests/oracles/subject.rs" -o rust
	for file in rust rust-lto; do
		compare $file
		! record ./$file || recorded $file $file
	done
}

try_go() {
	command -v go >/dev/null || { echo 'no go'; return 0; }
	GOCACHE=$PWD/gocache timeout 900 go build -o gofmt cmd/gofmt 2>go.log || {
		cat go.log
		echo 'go cannot build its gofmt in time: not compared'
		return 0
	}
	compare gofmt
	local source=$(go env GOROOT)/src
	! record ./gofmt -l "$source/runtime" "$source/net" || recorded gofmt gofmt
}

try_cxx() {
	command -v g++ >/dev/null || { echo 'no g++'; return 0; }
	local subject=$TOP/tests/oracles/subject.cpp file
	g++ -std=c++17 -O2 -gdwarf-4 -static "$subject" -o cxx-4
	g++ -std=c++17 -O2 -g -flto "$subject" -o cxx-lto
	! command -v clang++ >/dev/null ||
		clang++ -std=c++17 -O2 -gdwarf-5 -gsplit-dwarf "$subject" -o cxx-split
	for file in cxx-4 cxx-lto cxx-split; do
		[ -e $file ] || continue
		compare $file
		! record ./$file || recorded $file $file
	done
	! record ./cxx-lto || libc_too
}

try_java() {
	fetch openjdk-17-dbg && fetch openjdk-17-jre-headless || return 0
	local libjvm=$(find root/usr/lib/jvm -name libjvm.so -path '*server*') home link to
	local debug=$(debug_file "$libjvm")
	compare "$debug"
	# Its configuration is links to /etc, where an installed one would have it.
	home=${libjvm%/lib/server/libjvm.so}
	find "$home" -type l | while read -r link; do
		to=$(readlink "$link")
		[ "${to#/etc/}" = "$to" ] || ln -sf "$PWD/root$to" "$link"
	done
	! record "$home/bin/java" -Xcomp -XX:TieredStopAtLevel=4 -version ||
		recorded libjvm.so "$debug" "$libjvm"
}

try_kernel() { # 280 MB to fetch, 1,800 MB unpacked
	local meta=linux-image-cloud-amd64-dbg
	local package=$(apt-cache depends $meta 2>/dev/null | sed -n 's/.*Depends: //p' | head -n 1)
	[ -n "$package" ] || { echo 'no package of vmlinux'; return 0; }
	[ "$(df -Pm . | awk 'END { print $4 }')" -gt 4000 ] || { echo 'no room for vmlinux'; return 0; }
	! fetch "$package" || compare root/usr/lib/debug/boot/vmlinux-*
}

for subject in ${SUBJECTS:-python rust go cxx java kernel}; do
	"try_$subject"
done
[ $compared -gt 0 ] || skip 'nothing to compare could be had'
exit $status
