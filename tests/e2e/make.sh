#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Make rebuilds what a changed flag, header or compiler touches, and nothing otherwise.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL WERROR CFLAGS LDFLAGS CPPFLAGS
build=$PWD/b
failed=0

compiles() { # compiles YES|NO WHAT MAKE-ARGUMENT...
	local wanted=$1 what=$2 said found
	shift 2
	said=$(make -C "$TOP" BUILD="$build" SAN= CC=gcc V= "$@" 2>&1) || { echo "$what: make failed:"; echo "$said"; exit 1; }
	if grep -q '  CC' <<<"$said"; then found=YES; else found=NO; fi
	[ $found = "$wanted" ] || { echo "$what: compiled: $found, expected $wanted"; echo "$said"; failed=1; }
}

object=$build/formats/base/arena.o
compiles YES 'first make' "$object"
compiles NO 'second make' "$object"
compiles YES 'changed CFLAGS' CFLAGS=-O1 "$object"
compiles NO 'the same CFLAGS' CFLAGS=-O1 "$object"
compiles YES 'CFLAGS back' "$object"
compiles YES 'sanitizers' SAN=undefined "$build/san-undefined/formats/base/arena.o"
compiles NO 'without sanitizers again' "$object"
touch -d 2000-01-01 "$object"
compiles YES 'newer header' "$object"
compiles NO 'headers unchanged' "$object"
exit $failed
