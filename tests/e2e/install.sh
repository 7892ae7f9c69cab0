#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What install puts below DESTDIR works from there, and uninstall leaves nothing behind.
set -eu
root=$PWD
pages=$(cd "$TOP" && find Documentation/man -name '*.[1-8]' 2>/dev/null || true)
run() { (cd "$TOP" && DESTDIR=$root/root PREFIX=/usr .ci/install "$1" $pages); }

run install
find root -type f | sort
for program in precord preport; do
	[ -x "$BUILD/$program" ] || { echo "there is no $program"; exit 1; }
	"root/usr/bin/$program" --version | grep -q "^$program [0-9]" || { echo "$program does not run"; exit 1; }
	[ -s "root/usr/share/bash-completion/completions/$program" ]
	[ -s "root/usr/share/zsh/site-functions/_$program" ]
done
for page in $pages; do
	cmp "$TOP/$page" "root/usr/share/man/man${page##*.}/${page##*/}"
done
run uninstall
[ -z "$(find root -type f)" ] || { echo 'uninstall leaves files:'; find root -type f; exit 1; }
