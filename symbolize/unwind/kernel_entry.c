/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_entry.c - the entry code of arch/x86/entry by the names of its symbols.
 *
 * Under an exception in the kernel itself other kernel frames lie below the stub, and the user's registers were saved
 * long before; so every kernel frame must be such a stub.
 */
#include "symbolize/unwind/kernel_entry.h"

#include "formats/base/compiler.h"
#include "symbolize/name/ksyms.h"

#include <string.h>

/* Code that runs before the registers are on the task's stack. What runs after it has its own names. */
static const char *const stubs[] = {
	"entry_SYSCALL_64",
	"entry_SYSCALL_64_safe_stack",
	"entry_SYSCALL_compat",
	"entry_SYSENTER_compat",
	"entry_INT80_compat",
	"error_entry",
	"paranoid_entry",
	"sync_regs",
	"irq_entries_start",
	"spurious_entries_start",
	"asm_common_interrupt",
	"asm_spurious_interrupt",
	/* What error_entry calls on its way; from a system call the registers are saved, and its stub is none of these. */
	"srso_alias_untrain_ret",
	"srso_untrain_ret",
	"retbleed_untrain_ret",
	"zen_untrain_ret",
	"entry_untrain_ret",
	"entry_ibpb",
	"write_ibpb",
};

static const char *const stub_prefixes[] = { "asm_exc_", "asm_sysvec_", "asm_int80_" };

static bool is_stub(const struct recording *rec, uint64_t ip)
{
	const struct recording_ksym *symbol = ksyms_find(rec, ip);

	if (!symbol)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(stubs); i++) {
		if (strcmp(symbol->name, stubs[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(stub_prefixes); i++) {
		if (strncmp(symbol->name, stub_prefixes[i], strlen(stub_prefixes[i])) == 0)
			return true;
	}
	return false;
}

bool kernel_entry_has_stale_user(const struct recording *rec, const struct event_sample *s)
{
	if (s->mode != EVENT_MODE_KERNEL || !rec || !is_stub(rec, s->ip))
		return false;
	for (size_t i = 0; i < s->nkernel_ips; i++) {
		if (!is_stub(rec, s->kernel_ips[i]))
			return false;
	}
	return true;
}

/* ret_from_fork_asm and ret_from_fork on x86, ret_from_fork on aarch64. */
bool kernel_entry_is_first_exit(const struct recording *rec, const struct event_sample *s)
{
	static const char prefix[] = "ret_from_fork";
	const struct recording_ksym *symbol;

	if (s->mode != EVENT_MODE_KERNEL || !rec || !s->nkernel_ips)
		return false;
	symbol = ksyms_find(rec, s->kernel_ips[s->nkernel_ips - 1]);
	return symbol && strncmp(symbol->name, prefix, strlen(prefix)) == 0;
}
