#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program or library that holds CPython and has a name of its own is known by what is in it: its stacks are what CPython says they are.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/words.bash"
need_recording
need_interpreters
# equal_stacks COMMAND...: with words.py and a time
equal_stacks() {
	local seconds
	for seconds in 0.5 2 6; do # a recorder that gets no CPU comes too late
		one_by_one 999 "$@" "$TOP/tests/programs/words.py" $seconds
		[ "$compared" -lt 50 ] || break
	done
	echo "$compared compared, $equal equal"
	grep -q 'interpreters: ' precord.txt || { cat precord.txt; fail "$* is not known as an interpreter"; }
	[ "$compared" -ge 50 ] || few_stacks precord.txt
	[ $((equal * 100)) -ge $((compared * 99)) ] || fail 'stacks are not what CPython says'
}

cat >host.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "Py_BytesMain") : 0;

	return run ? run(argc - 1, argv + 1) : 2;
}
END
found=
read -r library home < <(python3 -c 'import sys, sysconfig; print(sysconfig.get_config_var("LIBDIR") + "/" + sysconfig.get_config_var("INSTSONAME"), sys.base_prefix)' 2>/dev/null)
if [ -e "$library" ] && $CC -O1 -o host host.c -ldl && cp "$library" libengine.so && PYTHONHOME=$home ./host libengine.so -c 'import asyncio' 2>/dev/null; then
	PYTHONHOME=$home equal_stacks ./host ./libengine.so
	found=1
fi

for python in /usr/bin/python3 "$(command -v python3)" /usr/local/bin/python3; do
	"$python" -c 'import sys, sysconfig; sys.exit((3, 6) > sys.version_info[:2] or sysconfig.get_config_var("Py_ENABLE_SHARED") == 1 and "/usr" != sys.prefix)' 2>/dev/null || continue
	file=$(readlink -f "$python")
	# With a library of its own it is known by the name of that.
	! ldd "$file" | grep -q libpython || continue
	cp "$file" heater && ./heater -c 'import asyncio' 2>/dev/null && break
	rm -f heater
done
[ ! -e heater ] || { equal_stacks ./heater && found=1; }
[ "$found" ] || skip 'there is no python3 that holds its interpreter itself, and no library of it'
exit 0
