#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that looks like Java, and whose tables lie in memory that userfaultfd never brings in, holds up nothing.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "the program is written for x86-64"
[ "$(id -u)" = 0 ] || skip "only root may read other processes' memory for sure"

cat >libjvm.c <<'END_C'
#include <stdint.h>
#define V(n, v) uint64_t n = v;
void *gHotSpotVMStructs, *gHotSpotVMTypes;
V(gHotSpotVMStructEntryTypeNameOffset, 0) V(gHotSpotVMStructEntryFieldNameOffset, 8) V(gHotSpotVMStructEntryIsStaticOffset, 24)
V(gHotSpotVMStructEntryOffsetOffset, 32) V(gHotSpotVMStructEntryAddressOffset, 40) V(gHotSpotVMStructEntryArrayStride, 48)
V(gHotSpotVMTypeEntryTypeNameOffset, 0) V(gHotSpotVMTypeEntrySizeOffset, 24) V(gHotSpotVMTypeEntryArrayStride, 32)
void code(void) {}
END_C
cat >lie.c <<'END_C'
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	void *lib = dlopen("./libjvm.so", RTLD_NOW);
	char *end = (char *)(((uintptr_t)dlsym(lib, "gHotSpotVMStructEntryArrayStride") | 0xfffff) + 1);
	char *page = mmap(end, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { (uintptr_t)page, 65536 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	unsigned char spin[] = { 0xff, 0xc9, 0x75, 0xfc, 0xc3 }; /* dec %ecx; jnz; ret */
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return 77;
	*(void **)dlsym(lib, "gHotSpotVMStructs") = *(void **)dlsym(lib, "gHotSpotVMTypes") = page;
	memcpy(code, spin, sizeof(spin));
	for (int i = 0; i < 600; i++)
		__asm__ volatile("call *%0" : : "r"(code), "c"(200000000) : "memory");
	return 0;
}
END_C
${CC:-cc} -shared -fPIC -w -o libjvm.so libjvm.c && ${CC:-cc} -O1 -w -o lie lie.c -ldl || fail "building the program"
trap 'kill $victim 2>/dev/null' EXIT
./lie & victim=$!
sleep 0.2
kill -0 $victim 2>/dev/null || { wait $victim; skip "there is no userfaultfd here (status $?)"; }
runs $victim lie
precord -e cpu-clock:u -F 999 -p $victim -o lie.trace -- sleep 1 2>err.txt || { cat err.txt; fail "cannot record"; }
grep -q ' hangs' err.txt && { cat err.txt; fail "reading the tables hangs"; }
exit 0
