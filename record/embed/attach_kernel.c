/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_kernel.c - reads /proc/kallsyms once, unless the cached lines are enough, for names and bounds of functions.
 */
#include "record/embed/attach_kernel.h"

#include "formats/base/clock.h"
#include "formats/base/vec.h"
#include "record/embed/kallsyms_cache.h"
#include "record/embed/kcore.h"
#include "record/embed/kernel_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* @functions: NULL if the kernel hides them. */
static void read_code(const struct attach_kernel *kernel, enum attach_bundle bundle,
		      const struct kernel_function_list *functions, struct writer *elf,
		      struct recording_kernel_code *ret)
{
	if (bundle == ATTACH_NONE) {
		ret->status = RECORDING_CODE_LEFT_OUT;
		return;
	}
	if (!functions) {
		ret->status = RECORDING_CODE_HIDDEN;
		return;
	}
	struct kernel_code_source src = {
		.kcore = KCORE_PATH,
		.machine = arch_native()->elf_machine,
		.text = kernel->text,
		.text_end = kernel->text_end,
		.functions = functions->items,
		.count = functions->len,
		.callers = bundle == ATTACH_FULL,
		.max_len = KERNEL_CODE_MAX,
	};
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);

	kernel_code_read(&src, elf, ret);
	ret->time_ns = clock_now_ns(CLOCK_MONOTONIC) - begin_ns;
}

static struct err *write_code(const struct attach_kernel *kernel, enum attach_bundle bundle,
			      const struct kernel_function_list *functions, struct trace_writer *w,
			      struct attach_report *report)
{
	struct recording_kernel_code code = { 0 };
	struct writer elf = { 0 };
	struct err *err = NULL;

	read_code(kernel, bundle, functions, &elf, &code);
	if (code.status != RECORDING_CODE_UNKNOWN)
		err = trace_writer_kernel_code(w, &code);
	code.elf = NULL;
	report->kernel_code = code;
	writer_deinit(&elf);
	return err;
}

void attach_kernel_deinit(struct attach_kernel *kernel)
{
	kernel_symbols_deinit(&kernel->symbols);
	kallsyms_text_deinit(&kernel->kallsyms);
}

/* The relevant lines from the cache, or all lines. NULL: unreadable, or no address to name. */
static FILE *open_kallsyms(struct attach_kernel *kernel, struct writer *kept)
{
	static const struct kallsyms_cache cache = { KALLSYMS_CACHE_FOLDER, "/proc/kallsyms", "/proc/sys/kernel/random/boot_id" };
	VEC(uint64_t) addresses = { 0 };
	const struct map_slot *slot;
	size_t pos = 0;

	if (!kernel->symbols.addresses.len)
		return NULL;
	while ((slot = map_next(&kernel->symbols.addresses, &pos))) {
		vec_push(&addresses, slot->key - 1);
		vec_push(&addresses, slot->key);
	}
	vec_sort(&addresses, vec_u64_ascending);
	bool known = kallsyms_cache_lines(&cache, addresses.items, addresses.len, kept);

	vec_deinit(&addresses);
	return known ? fmemopen(kept->data, kept->len, "r") :
		       kallsyms_text_open(&kernel->kallsyms, cache.kallsyms, "/proc/modules");
}

struct err *attach_kernel_write(struct attach_kernel *kernel, enum attach_bundle bundle,
				struct trace_writer *w, struct diag *notes,
				struct attach_report *report)
{
	struct kernel_symbol_list list = { 0 };
	struct kernel_function_list functions = { 0 };

	kernel_symbols_join(&kernel->symbols);
	CLEANUP(writer_deinit) struct writer kept = { 0 };
	FILE *kallsyms = open_kallsyms(kernel, &kept);
	int error = errno;
	struct err *err = NULL;
	bool shown = kernel_symbols_read(&kernel->symbols, kallsyms, &list, &functions);

	if (!shown && !kallsyms)
		diag_warn(notes, "kernel functions have no names: cannot read /proc/kallsyms: %s", strerror(error));
	else if (!shown)
		diag_warn(notes,
			  "kernel functions have no names: /proc/kallsyms hides its addresses "
			  "(sysctl kernel.kptr_restrict=0, or run as root)");
	if (kernel->symbols.left_out)
		diag_warn(notes,
			  "the kernel loaded code (BPF programs, trampolines) %" PRIu64 " times more than the "
			  "%u that are kept: code that was unloaded again has no name",
			  kernel->symbols.left_out, KERNEL_SYMBOLS_TOLD_MAX);
	if (kernel->symbols.dropped)
		diag_warn(notes,
			  "more than %u addresses in the kernel were seen: the %" PRIu64 " that were not seen for longest were "
			  "dropped; functions that only they lie in have no name",
			  KERNEL_SYMBOLS_ADDRESSES_MAX, kernel->symbols.dropped);
	kernel->symbols.dropped = 0;
	if (kallsyms)
		fclose(kallsyms);
	if (list.len)
		err = trace_writer_ksyms(w, list.items, list.len);
	report->ksyms = list.len;
	if (!err && kernel->symbols.addresses.len)
		err = write_code(kernel, bundle, shown ? &functions : NULL, w, report);
	vec_deinit(&list);
	vec_deinit(&functions);
	return err;
}
