/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown_runtime.c - code made at run time by a runtime of a version that nobody knows. Built once as the program, and, with -DJVM and
 * -DDOTNET, as the library by which precord knows each of them; with -DV8 the program itself is one.
 */
#include <stdint.h>

#if defined(JVM)
struct entry {
	const char *type, *field, *of;
	uint64_t is_static, offset;
	const void *address;
};

static int version = 30;
static const char names[3][64] = { "Abstract_VM_Version", "_vm_major_version" }; /* read without knowing where they end */
static const struct entry structs[] = { { names[0], names[1], "int", 1, 0, &version }, { 0 } };
static const struct entry types[1];

const struct entry *gHotSpotVMStructs = structs, *gHotSpotVMTypes = types;
uint64_t gHotSpotVMStructEntryTypeNameOffset = 0, gHotSpotVMStructEntryFieldNameOffset = 8, gHotSpotVMStructEntryIsStaticOffset = 24,
	 gHotSpotVMStructEntryOffsetOffset = 32, gHotSpotVMStructEntryAddressOffset = 40, gHotSpotVMStructEntryArrayStride = 48,
	 gHotSpotVMTypeEntryTypeNameOffset = 0, gHotSpotVMTypeEntrySizeOffset = 32, gHotSpotVMTypeEntryArrayStride = 48;
#elif defined(DOTNET)
char g_dacTable[64] = "there is nothing", version[] = "@(#)Version 30.0.1 @Commit: none";
#else
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef V8
int version_major __asm__("_ZN2v88internal7Version6major_E") = 30, version_minor __asm__("_ZN2v88internal7Version6minor_E") = 1;
#endif

/* mov $1000000, %ecx; dec %ecx; jnz; ret */
static const uint8_t code[] = { 0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : argv;
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!library || page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	while (clock() < CLOCKS_PER_SEC)
		((void (*)(void))page)();
	return 0;
}
#endif
