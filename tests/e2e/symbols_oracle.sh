#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names, positions and nesting of inlined calls are llvm-symbolizer's, for every kind of debug information that
# the compilers here can make. What differs for a reason is made equal by normal(), and said there.
# slow: it names thousands of addresses by two tools
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v llvm-symbolizer >/dev/null || skip "there is no llvm-symbolizer"
command -v readelf >/dev/null || skip "there is no readelf"
command -v g++ >/dev/null || skip "there is no g++"

addresses() { # addresses FILE COUNT: random ones in its .text
	readelf -SW "$1" | awk -v count="$2" '
		function hex(s, n, i) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		{ sub(/^ *\[ *[0-9]+\] */, "") }
		$1 == ".text" { begin = hex($3); len = hex($5) }
		END { srand(7); for (i = 0; i < count; i++) printf "0x%x\n", begin + int(rand() * len) }'
}

# - Where there is no line, llvm-symbolizer names the file from the symbol table's FILE symbol, with line 0.
# - Constructors and destructors have two or three names for one address; either may be chosen.
normal() {
	sed -E -e 's/^[^/]*:0:0$/??:0:0/' -e 's/(C|D)[0124]E/\1xE/g'
}

compare() { # compare FILE
	addresses "$1" 2000 >addresses
	"$BUILD/tests/tools/symbol_probe" "$PWD/$1" <addresses | normal >ours
	llvm-symbolizer -i --no-demangle --output-style=LLVM -e "$1" <addresses | normal >theirs
	echo "$1: $(grep -c . ours) lines, $(diff ours theirs | grep -c '^[<>]' || true) differ"
	[ "$(grep -c '^$' ours)" = 2000 ] || fail "$1: not 2000 answers"
	grep -q '[.]h:[1-9]' ours || fail "$1: there are no lines"
	diff ours theirs | head -n 20
	cmp -s ours theirs || fail "$1: not as llvm-symbolizer says"
}

source=$TOP/tests/e2e/symbols/subject.cpp
build() { # build NAME COMPILER FLAG...: in a folder of its own, since .dwo files get their names from the source
	mkdir -p "$1.build"
	(cd "$1.build" && "$2" -std=c++17 -O2 -g "${@:3}" -c "$source" -o subject.o && "$2" "${@:3}" subject.o -o "../$1") >log 2>&1 &&
		{ compare "$1"; return; }
	echo "$1: cannot be built here"
}

for compiler in g++ clang++; do
	command -v "$compiler" >/dev/null || continue
	for version in 4 5; do
		build "$compiler-$version" "$compiler" "-gdwarf-$version"
		build "$compiler-$version-types" "$compiler" "-gdwarf-$version" -fdebug-types-section
		build "$compiler-$version-split" "$compiler" "-gdwarf-$version" -gsplit-dwarf
		if command -v llvm-dwp >/dev/null && timeout 20 llvm-dwp "$compiler-$version-split.build/"*.dwo -o "$compiler-$version-split.dwp" 2>log; then
			rm "$compiler-$version-split.build/"*.dwo
			compare "$compiler-$version-split"
		fi
	done
done
build g++-sections g++ -ffunction-sections -Wl,--gc-sections
build g++-compressed g++ -gz=zlib

# Its units are in partial units, and what several files share in another file: that, llvm-symbolizer does not
# know, so what was before dwz is the oracle.
if command -v dwz >/dev/null; then
	cp g++-4 dwz-single
	dwz dwz-single
	compare dwz-single
	cp g++-4 dwz-a
	cp g++-5 dwz-b
	"$BUILD/tests/tools/symbol_probe" "$PWD/g++-4" <addresses >before
	if dwz -m "$PWD/dwz.shared" -M "$PWD/dwz.shared" dwz-a dwz-single dwz-b 2>log && [ -e dwz.shared ]; then
		"$BUILD/tests/tools/symbol_probe" "$PWD/dwz-a" <addresses >after
		cmp before after || fail "dwz's shared file changes the answers"
		echo "dwz with a shared file: the same"
	fi
	cp g++-5 sup-a
	cp g++-5-types sup-b
	if dwz -5 -m "$PWD/sup.shared" -M sup.shared sup-a sup-b 2>log && readelf -SW sup-a | grep -q '[.]debug_sup'; then
		for file in g++-5:sup-a g++-5-types:sup-b; do
			"$BUILD/tests/tools/symbol_probe" "$PWD/${file%:*}" <addresses >before
			"$BUILD/tests/tools/symbol_probe" "$PWD/${file#*:}" <addresses >after
			cmp before after || fail "dwz's shared file of DWARF 5 changes the answers of ${file%:*}"
		done
		mv sup.shared elsewhere
		"$BUILD/tests/tools/symbol_probe" "$PWD/sup-a" <addresses >without
		cmp -s after without && fail "without the shared file of DWARF 5 nothing is missing: it was not used"
		cp dwz.shared sup.shared 2>/dev/null || cp sup-b sup.shared
		"$BUILD/tests/tools/symbol_probe" "$PWD/sup-a" <addresses >other
		cmp -s without other || fail "a file with another checksum was used"
		echo "dwz with a shared file of DWARF 5: the same"
	fi
fi
