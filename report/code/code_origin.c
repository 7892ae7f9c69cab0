/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_origin.c - the kernel patches itself when it starts and while it runs, so what its memory held is the truth, and its
 * file at best nearly so.
 */
#include "report/code/code_origin.h"

#include "report/print/number.h"

#include <inttypes.h>
#include <string.h>

/* Why kernel code does not travel, for the reader, and what helps. */
static const struct {
	const char *why, *remedy;
} no_kernel_code[] = {
	[RECORDING_CODE_UNKNOWN] = { "nothing is known about it",
				     "record as root, so that the code is embedded" },
	[RECORDING_CODE_EMBEDDED] = { "its memory could not be read, or the size limit was reached",
				      "record less, or a shorter time" },
	[RECORDING_CODE_LEFT_OUT] = { "it was recorded with --bundle=none",
				      "record without --bundle=none" },
	[RECORDING_CODE_ABSENT] = { "the recorded kernel has no /proc/kcore (CONFIG_PROC_KCORE)",
				    "record on a kernel that has it" },
	[RECORDING_CODE_COVERED] = { "/proc/kcore was covered where it was recorded, as in containers",
				     "record on the host" },
	[RECORDING_CODE_DENIED] = { "the recorder had no permission to read /proc/kcore",
				    "record as root with CAP_SYS_RAWIO" },
	[RECORDING_CODE_LOCKED] = { "lockdown=confidentiality keeps /proc/kcore closed",
				    "record on a machine without it" },
	[RECORDING_CODE_HIDDEN] = { "/proc/kallsyms hid where functions are",
				    "record as root, or with kernel.kptr_restrict=0" },
	[RECORDING_CODE_UNREADABLE] = { "/proc/kcore had nothing of it", "record on another kernel" },
};

static bool is_kernel(const struct module *mod)
{
	return mod->kind == MODULE_KERNEL || mod->kind == MODULE_KERNEL_MODULE;
}

static bool find_kernel(const struct session *s, struct module *mod, struct code_origin *origin)
{
	origin->running = origin->code;
	origin->has_file = symbolizer_kernel_file(s->binaries.symbolizer, mod, origin->vaddr, &origin->file);
	if (!origin->code && origin->has_file) {
		origin->code = origin->file.code;
		origin->len = origin->file.len;
	}
	return origin->code;
}

bool code_origin_find(const struct session *s, struct module *mod, uint64_t vaddr,
		      struct code_origin *ret)
{
	struct image *img = module_code(s->binaries.modules, mod);
	struct code_origin origin = { .vaddr = vaddr };

	origin.arch = img ? image_arch(img) : s->recording->arch;
	if (mod->kind == MODULE_JIT)
		origin.code = symbolizer_jit_code(s->binaries.symbolizer, mod, vaddr, &origin.len);
	else if (img)
		origin.code = image_bytes_at(img, vaddr, &origin.len);
	if (is_kernel(mod) && !find_kernel(s, mod, &origin))
		return false;
	*ret = origin;
	return origin.code;
}

bool code_origin_is_there(void *session, uint32_t module, uint64_t vaddr)
{
	const struct session *s = session;
	struct code_origin origin;

	return code_origin_find(s, session_module(s, module), vaddr, &origin);
}

struct err *code_origin_missing(const struct recording *rec, const struct module *mod,
				const char *name)
{
	enum recording_code status = rec->kernel_code.status;
	const char *vmlinux = mod->kind == MODULE_KERNEL
				      ? "; or install the kernel's debug package, or point --debug-dir to its vmlinux"
				      : "";

	if (is_kernel(mod) && status < ARRAY_LEN(no_kernel_code))
		return err_remedy(err_new(ERR_UNSUPPORTED,
					  "the code of '%s', of the kernel, is not there: %s", name,
					  no_kernel_code[status].why),
				  "%s%s", no_kernel_code[status].remedy, vmlinux);

	struct err *err = err_new(ERR_UNSUPPORTED, "the code of '%s' is not there: module '%s'", name,
				  mod->path);

	if (mod->kind == MODULE_JIT)
		return err_remedy(
			err,
			"code of Java and Node.js travels along where it was sampled three times or more; other code "
			"made at run time if the program writes a dump of it (DOTNET_PerfEnabled=1, jitdump), or, "
			"with a perf map, if the memory can be read before the program ends");
	return err_remedy(err,
			  "point --symfs to a copy of the machine's files with the same build ID");
}

/* ---- the kernel's memory against its file ----------------------------------------------------------- */

/* Do @len bytes differ in nothing but one number, by the distance that the kernel was moved, as relocations do it? */
static bool is_relocated(const uint8_t *ran, const uint8_t *file, size_t len, uint64_t slide)
{
	for (size_t i = 0; slide && i + 4 <= len; i++) {
		uint32_t x, y;

		memcpy(&x, ran + i, sizeof(x));
		memcpy(&y, file + i, sizeof(y));
		if ((x - y == (uint32_t)slide || y - x == (uint32_t)slide) &&
		    memcmp(ran, file, i) == 0)
			/* A number of 8 bytes changes in its lower half alone. */
			return memcmp(ran + i + 4, file + i + 4, len - i - 4) == 0;
	}
	return false;
}

void code_origin_compare(struct code_origin *origin, const struct disasm_insn *insn)
{
	uint64_t at = insn->vaddr - origin->vaddr;

	if (!origin->running || !origin->has_file || at + insn->len > origin->file.len)
		return;

	const uint8_t *ran = origin->code + at, *file = origin->file.code + at;

	if (memcmp(ran, file, insn->len) == 0 ||
	    is_relocated(ran, file, insn->len, origin->file.slide))
		return;
	if (origin->patched < CODE_ORIGIN_NAMED)
		origin->patched_at[origin->patched] = insn->vaddr;
	origin->patched++;
}

/* ---- in words -------------------------------------------------------------------------------------- */

static const char *patched_text(const struct code_origin *origin, size_t ninsns, struct arena *arena)
{
	const char *text;

	if (!origin->patched)
		return arena_printf(arena, "; the same as in '%s'", origin->file.path);
	text = arena_printf(arena, "; %zu of its %zu instructions %s from '%s': patched at",
			    origin->patched, ninsns, origin->patched == 1 ? "differs" : "differ",
			    origin->file.path);
	for (size_t i = 0; i < MIN(origin->patched, CODE_ORIGIN_NAMED); i++)
		text = arena_printf(arena, "%s%s %" PRIx64, text, i ? "," : "",
				    origin->patched_at[i]);
	return origin->patched > CODE_ORIGIN_NAMED ? arena_printf(arena, "%s and on", text) : text;
}

const char *code_origin_text(const struct code_origin *origin, size_t ninsns, struct arena *arena)
{
	if (origin->running)
		return arena_printf(arena, "code as it was in the running kernel's memory%s",
				    origin->has_file ? patched_text(origin, ninsns, arena) : "");
	if (origin->has_file)
		return arena_printf(arena,
				    "code from '%s': the running kernel had patched some of it "
				    "(alternatives, static calls and keys, tracing)",
				    origin->file.path);
	return NULL;
}

const char *code_origin_kernel_note(const struct recording *rec, struct arena *arena)
{
	const struct recording_kernel_code *code = &rec->kernel_code;
	const char *unread = "";

	if (code->status == RECORDING_CODE_UNKNOWN || code->status >= ARRAY_LEN(no_kernel_code))
		return "";
	if (code->status != RECORDING_CODE_EMBEDDED)
		return arena_printf(arena, "not embedded: %s", no_kernel_code[code->status].why);
	if (code->unread)
		unread = arena_printf(arena, "; %s left out: %s",
				      number_of(arena, code->unread, "function"),
				      no_kernel_code[RECORDING_CODE_EMBEDDED].why);
	return arena_printf(arena, "%s, %s bytes, read in %s%s",
			    number_of(arena, code->functions, "function"),
			    number_count(arena, code->elf_len), number_time(arena, code->time_ns),
			    unread);
}
