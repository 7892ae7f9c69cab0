#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that run an interpreter whose file lies on a FUSE server that answers everybody but the recorder: precord exits, without
# the server's leave, and its file is whole.
# slow: the recording waits for such files as long as it may
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(id -u)" = 0 ] || skip "only root can mount a file system for sure"
[ "$(uname -m)" = x86_64 ] || skip "the program is written for x86-64"
need_interpreters
$CC -O2 -o hold_fuse "$TOP/tests/programs/hold_fuse.c" 2>cc.err || skip "no linux/fuse.h: $(head -n 1 cc.err)"

# A library that looks like any of the interpreters, and a program that runs code of it and code that no file has.
cat >library.c <<'END_C'
#include <stdint.h>
char _PyRuntime[4096], ruby_current_vm_ptr[8], ruby_current_ec[8], executor_globals[4096], compiler_globals[4096];
uint64_t gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVMStructEntryTypeNameOffset, gHotSpotVMStructEntryFieldNameOffset = 8,
	gHotSpotVMStructEntryIsStaticOffset = 24, gHotSpotVMStructEntryOffsetOffset = 32, gHotSpotVMStructEntryAddressOffset = 40,
	gHotSpotVMStructEntryArrayStride = 48, gHotSpotVMTypeEntryTypeNameOffset, gHotSpotVMTypeEntrySizeOffset = 24,
	gHotSpotVMTypeEntryArrayStride = 32;
void spin(void);
void spin(void)
{
	for (volatile long i = 0; i < 20000000; i++)
		;
}
END_C
cat >main.c <<'END_C'
#include <string.h>
#include <sys/mman.h>
void spin(void);
int main(void)
{
	unsigned char code[] = { 0xff, 0xc9, 0x75, 0xfc, 0xc3 }; /* dec %ecx; jnz; ret */
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, sizeof(code));
	for (int i = 0; i < 16; i++) {
		spin();
		__asm__ volatile("call *%0" : : "r"(page), "c"(100000000) : "memory");
	}
	return 0;
}
END_C
$CC -O1 -g -fPIC -shared -Wl,-soname,library.so -o library.so library.c && $CC -O1 -g -o main main.c ./library.so || fail "cannot compile"
mkdir held libs
mkfifo ready
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; umount -l held 2>/dev/null' EXIT

# The first thread may be a zombie while another waits for the server.
has_ended() { [ ! -e /proc/"$1" ] || grep -q '^State:.*Z' /proc/"$1"/status && ! grep -q '^Threads:.*[2-9]' /proc/"$1"/status; }

for name in python3.11 libpython3.12.so.1.0 libruby.so.3.1 php8.2 libjvm.so; do
	./hold_fuse held library.so $name >ready & server=$!
	read -r word <ready
	[ "$word" = ready ] || skip "a FUSE file system cannot be mounted here"
	rm -f ran
	ln -sf ../held/$name libs/library.so
	precord -a -F 499 --embed-time=4s -o $name.trace -- env LD_LIBRARY_PATH=$PWD/libs sh -c './main; : >ran' 2>err.txt & job=$!
	until [ -e ran ] || has_ended $job; do sleep 0.1; done
	# A recorder that waits for the server cannot be killed; it goes on once the server is gone.
	for _ in $(seq 600); do
		has_ended $job && break
		sleep 0.1
	done
	has_ended $job || { kill $server; wait $job; fail "$name: the recorder waited for it"; }
	wait $job || { cat err.txt; fail "$name: status $?"; }
	preport -i $name.trace info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt err.txt; fail "$name: the file is not complete"; }
	kill $server
	wait $server
	umount -l held 2>/dev/null
done
exit 0
