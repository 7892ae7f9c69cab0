#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slots of the procedure linkage table have the names that objdump gives them, whoever linked the file.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v objdump >/dev/null || skip "there is no objdump"

cat >main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int (*print)(const char *) = puts; /* by pointer and by call: .plt.got */
	char *copy = malloc(argc + strlen(argv[0]));

	print(strcpy(copy, argv[0]));
	puts(copy);
	return atoi(copy) + printf("%s", getenv("HOME"));
}
END

# Not every disassembler knows the lazy halves of split tables, which objdump leaves without names; those
# that it names must be ours. Of other linkers' tables an objdump may know nothing.
compare() { # compare FILE
	objdump -d "$1" | sed -nE 's/^0*([0-9a-f]+) <(\w+)(@@?[A-Z_0-9.]+)?@plt>:$/\1 \2@plt/p' >expected
	cut -d' ' -f1 expected | "$BUILD/tests/tools/symbol_probe" "$PWD/$1" | awk 'NR % 3 == 1' >names
	cut -d' ' -f1 expected | paste -d' ' - names >found
	[ -s expected ] || { echo "$1: this objdump names no slot"; return; }
	[ "$(wc -l <expected)" -ge 6 ] || fail "$1: objdump finds only $(wc -l <expected) slots"
	compared=$((compared + 1))
	diff expected found || fail "$1: other names than objdump"
	echo "$1: $(wc -l <expected) slots"
}

compared=0
try() { # try NAME COMMAND...
	"${@:2}" main.c -o "$1" 2>log || { echo "$1: cannot be built here"; return; }
	compare "$1"
}

try lazy "$CC" -O1 -Wl,-z,lazy
try now "$CC" -O1 -Wl,-z,now
try branch-protection "$CC" -O1 -fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy
try gold "$CC" -O1 -fuse-ld=gold
try lld clang -O1 -fuse-ld=lld
[ $compared -gt 0 ] || skip "nothing can be built here, or objdump names no slot"
