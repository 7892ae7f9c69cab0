/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c - a deny list, not an allow list: libraries differ in the system calls they make, and a recorder that a new
 * libc kills is worse than one that may still call gettimeofday().
 */
#include "record/system/confine.h"

#include "formats/base/compiler.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers of older kernels lack them. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#if defined(__x86_64__)
#define AUDIT_ARCH_OWN AUDIT_ARCH_X86_64
#define CALLS_MAX      0x40000000U /* x32 has the same calls under other numbers */
#elif defined(__aarch64__)
#define AUDIT_ARCH_OWN AUDIT_ARCH_AARCH64
#define CALLS_MAX      UINT32_MAX
#endif

/* ---- capabilities -------------------------------------------------------------------------------------- */

#define BIT(cap) (1ULL << (cap))

/* Events of CPUs that come online, /proc/PID of others, code of the kernel, the output, priorities. */
#define RECORDER_CAPS                                                                           \
	(BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_OVERRIDE) | \
	 BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_NICE) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYSLOG) |   \
	 BIT(CAP_SYS_RAWIO) | BIT(CAP_KILL) | BIT(CAP_CHECKPOINT_RESTORE))

/* Files and memory of others, to read. */
#define READER_CAPS (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_KILL))

/* The same, and the links of /proc/PID/map_files, which older kernels allow only with CAP_SYS_ADMIN. */
#define FOREIGN_CAPS (READER_CAPS | BIT(CAP_CHECKPOINT_RESTORE))

static void keep_caps(uint64_t kept)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) != 0)
		return;
	for (int i = 0; i < 2; i++) {
		data[i].effective &= (uint32_t)(kept >> (32 * i));
		data[i].permitted &= (uint32_t)(kept >> (32 * i));
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &head, data);
}

/* ---- system calls -------------------------------------------------------------------------------------- */

#ifdef AUDIT_ARCH_OWN

/* The leak check of a build with -fsanitize=address looks at the program's own threads by ptrace(). */
#if defined(__SANITIZE_ADDRESS__)
#define REFUSED_UNLESS_CHECKED
#else
#define REFUSED_UNLESS_CHECKED SYS_ptrace,
#endif

static const uint32_t refused[] = {
	REFUSED_UNLESS_CHECKED
	SYS_execve,	 SYS_execveat,	  SYS_process_vm_writev,  SYS_mount,	     SYS_umount2,	    SYS_pivot_root,
	SYS_chroot,	 SYS_setns,	  SYS_unshare,	     SYS_init_module,	    SYS_finit_module,
	SYS_delete_module, SYS_kexec_load, SYS_reboot,	     SYS_swapon,	    SYS_swapoff,
	SYS_setuid,	 SYS_setgid,	  SYS_setreuid,	     SYS_setregid,	    SYS_setresuid,
	SYS_setresgid,	 SYS_setgroups,	  SYS_setfsuid,	     SYS_setfsgid,	    SYS_add_key,
	SYS_keyctl,	 SYS_request_key, SYS_settimeofday,  SYS_clock_settime,	    SYS_sethostname,
	SYS_mknodat,	 SYS_fchmodat,	  SYS_fchownat,	     SYS_fchown,	    SYS_acct,
	SYS_quotactl,	 SYS_userfaultfd, SYS_open_by_handle_at,
};

#define REFUSED ARRAY_LEN(refused)

/* Refuse the listed calls, and all calls of another architecture's ABI. */
static void filter_calls(void)
{
	struct sock_filter code[REFUSED + 8];
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_OWN, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CALLS_MAX, REFUSED + 1, 0);
	for (size_t i = 0; i < REFUSED; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i],
							 (uint8_t)(REFUSED - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	struct sock_fprog program = { .len = (unsigned short)n, .filter = code };

	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

#else

static void filter_calls(void)
{
}

#endif

/* ---- files --------------------------------------------------------------------------------------------- */

/* Of linux/landlock.h, which came with Linux 5.13: the rights of its first version except execute and read. */
#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_RESTRICT_SELF  446
#define LANDLOCK_WRITES         (0x1fffULL & ~(1ULL << 0) & ~(1ULL << 2) & ~(1ULL << 3))

void confine_recorder(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	keep_caps(RECORDER_CAPS);
	filter_calls();
}

void confine_reader(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	keep_caps(READER_CAPS);
	filter_calls();
}

void confine_foreign_reader(void)
{
	bool known = prctl(PR_CAPBSET_READ, CAP_CHECKPOINT_RESTORE, 0, 0, 0) >= 0;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	keep_caps(FOREIGN_CAPS | (known ? 0 : BIT(CAP_SYS_ADMIN)));
	filter_calls();
}

/* A ruleset without rules takes away all rights that it handles. */
void confine_file_reader(void)
{
	uint64_t handled = LANDLOCK_WRITES;
	int fd = (int)syscall(LANDLOCK_CREATE_RULESET, &handled, sizeof(handled), 0);

	if (fd < 0)
		return;
	syscall(LANDLOCK_RESTRICT_SELF, fd, 0);
	close(fd);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

void confine_memory(uint64_t more)
{
	unsigned long pages[6] = { 0 };
	FILE *file = fopen("/proc/self/statm", "re");
	size_t got = 0;

	while (file && got < ARRAY_LEN(pages) && fscanf(file, "%lu", &pages[got]) == 1)
		got++;
	if (file)
		fclose(file);
	if (got < ARRAY_LEN(pages))
		return;
	rlim_t limit = (rlim_t)pages[5] * (rlim_t)sysconf(_SC_PAGESIZE) + more;

	setrlimit(RLIMIT_DATA, &(struct rlimit){ limit, limit });
}
