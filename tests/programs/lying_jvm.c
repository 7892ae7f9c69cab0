/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lying_jvm.c - a libjvm.so whose tables are complete, and lead to a code cache that nothing can be believed of: lengths of 2^63, lists and
 * scopes in circles, pointers into nowhere, or words that change all the time.
 *
 *	lie(how): run a loop in that code cache, as a compiled method, until the process is ended
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define BASE	0x200000000ULL /* of the machine's memory */
#define LEN	0x20000
#define BLOB	(BASE + 0x8110)
#define CODE	(BLOB + 0x80)
#define CODE_LEN 0x100
#define HEAP	(BASE + 0x400)
#define SCOPES	(BLOB + 0x210)
#define PCS	(BLOB + 0x230)
#define OUTER	(BASE + 0x2000)
#define INNER	(BASE + 0x2800)
#define POOL	(BASE + 0x3000)
#define KLASS	(BASE + 0x3800)
#define LOADER	(BASE + 0x5000)
#define THREADS (BASE + 0x5800)
#define NOWHERE 0x7ff000000000ULL

struct struct_entry {
	const char *type, *field, *text;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct type_entry {
	const char *name, *super;
	int32_t flags[2];
	uint64_t size;
};

#define FIELD(type, name, offset)   { type, name, "", 0, offset, NULL }
#define STATIC(type, name, address) { type, name, "", 1, 0, (void *)(BASE + (address)) }

static struct struct_entry structs[] = {
	STATIC("CodeCache", "_heaps", 0x100),
	FIELD("GrowableArrayBase", "_len", 0),
	FIELD("GrowableArray<int>", "_data", 8),
	FIELD("CodeHeap", "_memory", 0),
	FIELD("CodeHeap", "_segmap", 32),
	FIELD("CodeHeap", "_log2_segment_size", 64),
	FIELD("VirtualSpace", "_low_boundary", 0),
	FIELD("VirtualSpace", "_high_boundary", 8),
	FIELD("HeapBlock::Header", "_length", 0),
	FIELD("HeapBlock::Header", "_used", 8),
	FIELD("CodeBlob", "_name", 0),
	FIELD("CodeBlob", "_size", 8),
	FIELD("CodeBlob", "_frame_size", 12),
	FIELD("CodeBlob", "_code_begin", 16),
	FIELD("CodeBlob", "_code_end", 24),
	FIELD("nmethod", "_method", 32),
	FIELD("nmethod", "_compile_id", 40),
	FIELD("nmethod", "_metadata_offset", 44),
	FIELD("nmethod", "_scopes_pcs_offset", 48),
	FIELD("nmethod", "_dependencies_offset", 52),
	FIELD("CompiledMethod", "_scopes_data_begin", 56),
	FIELD("Method", "_constMethod", 8),
	FIELD("ConstMethod", "_constants", 8),
	FIELD("ConstMethod", "_flags", 16),
	FIELD("ConstMethod", "_code_size", 18),
	FIELD("ConstMethod", "_name_index", 20),
	FIELD("ConstMethod", "_constMethod_size", 24),
	FIELD("ConstantPool", "_pool_holder", 8),
	FIELD("ConstantPool", "_length", 16),
	FIELD("ConstantPool", "_source_file_name_index", 20),
	FIELD("Klass", "_name", 16),
	FIELD("Klass", "_class_loader_data", 24),
	STATIC("ClassLoaderDataGraph", "_head", 0x110),
	FIELD("ClassLoaderData", "_next", 0),
	FIELD("Symbol", "_length", 0),
	FIELD("Symbol", "_body", 2),
	STATIC("Abstract_VM_Version", "_vm_major_version", 0x108),
	STATIC("AbstractInterpreter", "_code", 0x118),
	FIELD("StubQueue", "_stub_buffer", 0),
	FIELD("StubQueue", "_buffer_limit", 8),
	STATIC("ThreadsSMRSupport", "_java_thread_list", 0x120),
	FIELD("ThreadsList", "_length", 0),
	FIELD("ThreadsList", "_threads", 8),
	FIELD("JavaThread", "_threadObj", 8),
	FIELD("Thread", "_osthread", 16),
	FIELD("OSThread", "_thread_id", 0),
	FIELD("Klass", "_super", 32),
	FIELD("InstanceKlass", "_constants", 40),
	FIELD("InstanceKlass", "_fields", 48),
	FIELD("InstanceKlass", "_java_fields_count", 56),
	STATIC("vmClasses", "_klasses[static_cast<int>(vmClassID::String_klass_knum)]", 0x128),
	STATIC("vmClasses", "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]", 0x128),
	STATIC("CompressedOops", "_base", 0x130),
	STATIC("CompressedOops", "_shift", 0x138),
	STATIC("CompressedKlassPointers", "_base", 0x130),
	STATIC("CompressedKlassPointers", "_shift", 0x138),
	{ NULL, NULL, NULL, 0, 0, NULL },
};

static struct type_entry types[] = {
	{ "HeapBlock", NULL, { 0, 0 }, 16 }, { "ConstMethod", NULL, { 0, 0 }, 32 }, { "ConstantPool", NULL, { 0, 0 }, 64 },
	{ "PcDesc", NULL, { 0, 0 }, 16 }, { NULL, NULL, { 0, 0 }, 0 },
};

/* NOLINTBEGIN(readability-identifier-naming): as HotSpot names them */
void *gHotSpotVMStructs = structs, *gHotSpotVMTypes = types;
uint64_t gHotSpotVMStructEntryTypeNameOffset = 0, gHotSpotVMStructEntryFieldNameOffset = 8, gHotSpotVMStructEntryIsStaticOffset = 24;
uint64_t gHotSpotVMStructEntryOffsetOffset = 32, gHotSpotVMStructEntryAddressOffset = 40, gHotSpotVMStructEntryArrayStride = 48;
uint64_t gHotSpotVMTypeEntryTypeNameOffset = 0, gHotSpotVMTypeEntrySizeOffset = 24, gHotSpotVMTypeEntryArrayStride = 32;
/* NOLINTEND(readability-identifier-naming) */

static void put(uint64_t addr, uint64_t value, size_t len)
{
	memcpy((void *)addr, &value, len);
}

static uint64_t symbol(uint64_t addr, const char *text)
{
	put(addr, strlen(text), 2);
	memcpy((void *)(addr + 2), text, strlen(text));
	return addr;
}

/* A method with 16 bytes of bytecode, and lines. */
static void make_method(uint64_t method, uint16_t name)
{
	static const uint8_t lines[] = { 0 << 3 | 7, 4 << 3 | 2, 0 };
	uint64_t constant = method + 0x100;

	put(method + 8, constant, 8);
	put(constant + 8, POOL, 8);
	put(constant + 16, 1, 1);
	put(constant + 18, 16, 2);
	put(constant + 20, name, 2);
	put(constant + 24, 8, 4);
	memcpy((void *)(constant + 48), lines, sizeof(lines));
}

static void make_names(void)
{
	put(POOL + 8, KLASS, 8);
	put(POOL + 16, 4, 4);
	put(POOL + 20, 3, 2);
	put(KLASS + 16, symbol(BASE + 0x4000, "org/Outer"), 8);
	put(KLASS + 24, LOADER, 8);
	put(POOL + 64 + 8, symbol(BASE + 0x4100, "run"), 8);
	put(POOL + 64 + 16, symbol(BASE + 0x4200, "step"), 8);
	put(POOL + 64 + 24, symbol(BASE + 0x4300, "Outer.java"), 8);
	make_method(OUTER, 1);
	make_method(INNER, 2);
}

static void make_heap(void)
{
	put(BASE + 0x100, BASE + 0x200, 8);
	put(BASE + 0x108, 17, 4);
	put(BASE + 0x110, LOADER, 8);
	put(BASE + 0x118, BASE + 0x5400, 8);
	put(BASE + 0x120, THREADS, 8);
	put(BASE + 0x128, KLASS, 8);
	put(BASE + 0x200, 1, 4);
	put(BASE + 0x208, BASE + 0x300, 8);
	put(BASE + 0x300, HEAP, 8);
	put(HEAP, BASE + 0x8000, 8);
	put(HEAP + 8, BASE + 0x10000, 8);
	put(HEAP + 32, BASE + 0x1000, 8);
	put(HEAP + 40, BASE + 0x1100, 8);
	put(HEAP + 64, 7, 4);
	memset((void *)(BASE + 0x1000), 0xff, 0x100);
	for (unsigned i = 0; i < 32; i++)
		put(BASE + 0x1002 + i, i, 1);
	put(BLOB - 16, 32, 8);
	put(BLOB - 8, 1, 1);
}

static void make_code(void)
{
	static const uint8_t scopes[] = { 0, 0, 0, 0, 0, 1, 5 + 1, 0, 4, 2, 0 + 1 };
	static const uint8_t loop[] = { 0xff, 0xc9, 0x75, 0xfc, 0xc3 }; /* dec %ecx; jnz; ret */

	memcpy((void *)(BASE + 0x500), "nmethod", 8);
	put(BLOB, BASE + 0x500, 8);
	put(BLOB + 12, 6, 4);
	put(BLOB + 16, CODE, 8);
	put(BLOB + 24, CODE + CODE_LEN, 8);
	put(BLOB + 32, OUTER, 8);
	put(BLOB + 40, 77, 4);
	put(BLOB + 44, 0x200, 4);
	put(BLOB + 48, 0x230, 4);
	put(BLOB + 52, 0x260, 4);
	put(BLOB + 56, SCOPES, 8);
	put(BLOB + 0x200, OUTER, 8);
	put(BLOB + 0x208, INNER, 8);
	memcpy((void *)SCOPES, scopes, sizeof(scopes));
	put(PCS, UINT32_MAX, 4);
	put(PCS + 16, 0x20, 4);
	put(PCS + 20, 8, 4);
	put(PCS + 32, INT32_MAX, 4);
	memset((void *)CODE, 0x90, CODE_LEN);
	memcpy((void *)(CODE + 0x10), loop, sizeof(loop));
}

static void tell_lengths(void)
{
	put(BASE + 0x200, INT32_MAX, 4);		/* heaps */
	put(BLOB - 16, 1ULL << 63, 8);			/* segments of the block */
	put(BLOB + 48, UINT32_MAX, 4);
	put(OUTER + 0x100 + 18, UINT16_MAX, 2);		/* bytecode */
	put(POOL + 16, INT32_MAX, 4);
	put(BASE + 0x4000, UINT16_MAX, 2);		/* the class's name */
	put(BASE + 0x5400, BASE + 0x6000, 8);		/* the interpreter's code */
	put(BASE + 0x5408, UINT32_MAX, 4);
	put(THREADS, INT32_MAX, 4);
	put(THREADS + 8, BASE, 8);
}

static void tell_circles(void)
{
	put(LOADER, LOADER, 8);
	put(SCOPES + 4, 8, 1);	    /* the outer scope's caller is the inner one */
	put(HEAP + 80, BLOB - 16, 8); /* free blocks; the block itself is one */
	put(BLOB, BLOB - 16, 8);
	put(KLASS + 32, KLASS, 8);
	memset((void *)(BASE + 0x1000), 1, 0x100); /* each segment belongs to the one before */
	put(BASE + 0x300, BASE + 0x300, 8);
}

static void tell_nothing(void)
{
	static const uint64_t at[] = { BLOB, BLOB + 32, BLOB + 56, OUTER + 8, POOL + 8, KLASS + 16, BASE + 0x118, BASE + 0x120, BASE + 0x128, LOADER, HEAP + 80 };

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		put(at[i], NOWHERE + 8 * i, 8);
}

/* Any word may be any number, or what it was before, at any time; the code itself stays. */
static void *change(void *unused)
{
	static const uint64_t evil[] = { 0, 1, 0xff, INT32_MAX, UINT32_MAX, 1ULL << 63, UINT64_MAX, BLOB, HEAP, POOL, NOWHERE };
	static uint8_t good[0x9000];
	uint64_t seed = 1;

	memcpy(good, (void *)BASE, sizeof(good));
	for (unsigned i = 0;; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		uint64_t at = (seed >> 20) % sizeof(good) / 8 * 8;

		if (i % 64 == 0) {
			memcpy((void *)BASE, good, (size_t)(CODE - BASE));
			memcpy((void *)(CODE + CODE_LEN), good + (CODE + CODE_LEN - BASE), (size_t)(BASE + sizeof(good) - CODE - CODE_LEN));
		} else if (BASE + at + 8 <= CODE || BASE + at >= CODE + CODE_LEN) {
			put(BASE + at, evil[(seed >> 50) % (sizeof(evil) / sizeof(evil[0]))], 1U << (seed >> 60) % 4);
		}
	}
	return unused;
}

void lie(const char *how)
{
	pthread_t thread;

	if (mmap((void *)BASE, LEN, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return;
	make_names();
	make_heap();
	make_code();
	if (strcmp(how, "lengths") == 0)
		tell_lengths();
	if (strcmp(how, "circles") == 0)
		tell_circles();
	if (strcmp(how, "nowhere") == 0)
		tell_nothing();
	if (strcmp(how, "changes") == 0)
		pthread_create(&thread, NULL, change, NULL);
	for (;;)
		__asm__ volatile("call *%0" : : "r"(CODE + 0x10), "c"(1000000) : "memory", "cc");
}
