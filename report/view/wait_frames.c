/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_frames.c - a table of kernel functions by prefix; the innermost frame that is in it decides.
 */
#include "report/view/wait_frames.h"

#include "formats/base/compiler.h"
#include "report/view/entry.h"

#include <string.h>

static const struct {
	const char *prefix;
	enum wait_kind kind;
} functions[] = {
	{ "futex_", WAIT_LOCK },
	{ "do_futex", WAIT_LOCK },
	{ "__futex", WAIT_LOCK },
	{ "do_nanosleep", WAIT_SLEEP },
	{ "hrtimer_nanosleep", WAIT_SLEEP },
	{ "common_nsleep", WAIT_SLEEP },
	{ "msleep", WAIT_SLEEP },
	{ "usleep_range", WAIT_SLEEP },
	{ "ep_poll", WAIT_POLL },
	{ "do_epoll_", WAIT_POLL },
	{ "do_poll", WAIT_POLL },
	{ "do_sys_poll", WAIT_POLL },
	{ "do_select", WAIT_POLL },
	{ "core_sys_select", WAIT_POLL },
	{ "poll_schedule_timeout", WAIT_POLL },
	{ "io_cqring_wait", WAIT_POLL },
	{ "inotify_read", WAIT_POLL },
	{ "eventfd_", WAIT_POLL },
	{ "timerfd_", WAIT_POLL },
	{ "signalfd_", WAIT_SIGNAL },
	{ "pipe_", WAIT_PIPE },
	{ "anon_pipe_", WAIT_PIPE },
	{ "fifo_open", WAIT_PIPE },
	{ "wait_for_partner", WAIT_PIPE },
	{ "sk_wait_", WAIT_SOCKET },
	{ "sk_stream_wait", WAIT_SOCKET },
	{ "sock_alloc_send", WAIT_SOCKET },
	{ "inet_", WAIT_SOCKET },
	{ "tcp_", WAIT_SOCKET },
	{ "unix_", WAIT_SOCKET },
	{ "__skb_", WAIT_SOCKET },
	{ "skb_recv", WAIT_SOCKET },
	{ "udp_", WAIT_SOCKET },
	{ "netlink_", WAIT_SOCKET },
	{ "packet_recvmsg", WAIT_SOCKET },
	{ "vsock_", WAIT_SOCKET },
	{ "n_tty_", WAIT_TERMINAL },
	{ "tty_", WAIT_TERMINAL },
	{ "do_wait", WAIT_CHILD },
	{ "kernel_wait", WAIT_CHILD },
	{ "wait_for_vfork_done", WAIT_CHILD },
	{ "do_sigtimedwait", WAIT_SIGNAL },
	{ "sigsuspend", WAIT_SIGNAL },
	{ "__x64_sys_pause", WAIT_SIGNAL },
	{ "__do_sys_pause", WAIT_SIGNAL },
	{ "do_signal_stop", WAIT_SIGNAL },
	{ "ptrace_stop", WAIT_SIGNAL },
	{ "do_jobctl_trap", WAIT_SIGNAL },
	{ "do_freezer_trap", WAIT_SIGNAL },
	{ "io_schedule", WAIT_DISK },
	{ "bit_wait_io", WAIT_DISK },
	{ "folio_wait", WAIT_DISK },
	{ "wait_on_page", WAIT_DISK },
	{ "submit_bio_wait", WAIT_DISK },
	{ "blk", WAIT_DISK },
	{ "rq_qos_wait", WAIT_DISK },
	{ "wbt_wait", WAIT_DISK },
	{ "jbd2_", WAIT_DISK },
	{ "ext4_", WAIT_DISK },
	{ "xfs_", WAIT_DISK },
	{ "xlog_", WAIT_DISK },
	{ "btrfs_", WAIT_DISK },
	{ "nfs_", WAIT_DISK },
	{ "rpc_wait", WAIT_DISK },
	{ "vfs_fsync", WAIT_DISK },
	{ "do_fsync", WAIT_DISK },
	{ "sync_file_range", WAIT_DISK },
	{ "filemap_", WAIT_DISK },
	{ "balance_dirty_pages", WAIT_DISK },
	{ "request_wait_answer", WAIT_DISK }, /* FUSE */
	{ "p9_client_rpc", WAIT_DISK },
	{ "mutex_lock", WAIT_KERNEL_LOCK },
	{ "__mutex_lock", WAIT_KERNEL_LOCK },
	{ "rwsem_down", WAIT_KERNEL_LOCK },
	{ "__down", WAIT_KERNEL_LOCK },
	{ "percpu_rwsem_wait", WAIT_KERNEL_LOCK },
	{ "synchronize_", WAIT_KERNEL_LOCK },
	{ "__wait_rcu_gp", WAIT_KERNEL_LOCK },
	{ "worker_thread", WAIT_KERNEL_WORK },
	{ "rescuer_thread", WAIT_KERNEL_WORK },
	{ "smpboot_thread_fn", WAIT_KERNEL_WORK },
	{ "rcu_gp_kthread", WAIT_KERNEL_WORK },
	{ "kswapd", WAIT_KERNEL_WORK },
	{ "kjournald2", WAIT_KERNEL_WORK },
	{ "kcompactd", WAIT_KERNEL_WORK },
	{ "kthread", WAIT_KERNEL_WORK },
	{ "kauditd_thread", WAIT_KERNEL_WORK },
};

/* Frames below which the kernel serves a page fault: what it waits for there, it waits for on behalf of memory. */
static const char *const fault_prefixes[] = { "handle_mm_fault", "do_user_addr_fault", "exc_page_fault",
					      "do_page_fault", "do_mem_abort" };

/* How kernels call the functions behind system calls. */
static const char *const syscall_prefixes[] = { "__x64_sys_",  "__arm64_sys_", "__ia32_sys_", "__riscv_sys_",
						"__se_sys_",   "__do_sys_",    "ksys_",	      "__sys_" };

static const char *const scheduler[] = { "schedule", "__schedule", "preempt_schedule", "io_schedule",
					 "__cond_resched", "exit_to_user_mode", "irqentry_exit",
					 "schedule_timeout", "schedule_hrtimeout" };

/* On the way to a tracepoint, and what there is between a file system and a driver. */
static const char *const block_layer[] = { "__traceiter_", "blk_", "__blk_", "submit_bio", "__submit_bio", "bio_", "dd_", "bfq_",
					   "__bio_", "kyber_", "flush_plug", "virtio_", "virtblk_", "scsi_", "nvme_", "dm_" };

/* What wakes on behalf of others. */
static const char *const wakers[] = { "__traceiter_", "try_to_wake_up", "wake_up_", "__wake_up", "default_wake_function", "autoremove_wake",
				      "pollwake", "ep_poll_callback", "ep_autoremove_wake", "swake_up", "complete", "wake_q", "ttwu_",
				      "futex_wake", "do_futex", "woken_wake", "sock_def_readable", "rcuwait_wake", "kick_pool",
				      "__queue_work", "queue_work", "insert_work", "up_", "rwsem_wake", "mutex_unlock", "__mutex_unlock" };

/* Those that wait for a lock, below the ones that take it for a purpose. */
static const char *const lock_functions[] = {
	"__traceiter_", "__pv_queued_spin", "native_queued_spin", "queued_spin_lock", "queued_read_lock", "queued_write_lock",
	"_raw_spin_lock", "_raw_read_lock", "_raw_write_lock", "__raw_spin_lock", "do_raw_spin", "mutex_lock", "__mutex_lock",
	"ww_mutex_lock", "__ww_mutex_lock", "rwsem_", "down_read", "down_write", "__down", "down_interruptible", "down_killable",
	"down_timeout", "percpu_rwsem", "__percpu_down", "percpu_down", "rt_mutex", "__rt_mutex", "rtlock_", "rt_spin_lock",
	"osq_lock", "lock_mm_and_find_vma", "spin_lock",
};

/* Functions that only wrap a system call or a lock, by the beginning of their module's name. */
static const char *const wrappers[] = { "libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "libc.musl", "[vdso]" };

/* Those of runtimes that do the same, by the beginning of their name: what Go, Java and C++ call on the way to a wait. */
static const char *const runtime_wrappers[] = {
	"runtime.futex", "runtime.note", "runtime.mPark", "runtime.stopm", "runtime.usleep", "runtime.sema", "runtime.lock",
	"sync.(*Mutex).", "sync.(*RWMutex).", "internal/sync.(*Mutex).", "sync.runtime_", "internal/runtime/",
	"os::", "Parker::park", "PlatformEvent::", "PlatformMonitor::", "ObjectMonitor::", "ObjectSynchronizer::", "Unsafe_Park",
	"SharedRuntime::complete_monitor", "SharedRuntime::monitor", "_complete_monitor", "InterpreterRuntime::monitor",
	"Runtime1::monitor", "monitorenter_", "Monitor::wait", "JVM_MonitorWait", "java.lang.Object.wait", "jdk.internal.misc.Unsafe.park",
	"java.util.concurrent.locks.", "java/util/concurrent/locks/",
	"std::condition_variable", "std::mutex::", "std::unique_lock<", "std::lock_guard<", "std::scoped_lock<", "__gthread_",
};

/* By the beginnings of functions' names: of several on a stack the outermost decides. */
static const struct {
	const char *prefix;
	struct wait_lock lock;
} locks[] = {
	{ "__lll_lock_wait", { "mutex", false, false } },
	{ "pthread_mutex_", { "mutex", false, false } },
	{ "__pthread_mutex_", { "mutex", false, false } },
	{ "___pthread_mutex_", { "mutex", false, false } },
	{ "__GI___pthread_mutex_", { "mutex", false, false } },
	{ "pthread_rwlock_", { "read-write lock", false, false } },
	{ "__pthread_rwlock_", { "read-write lock", false, false } },
	{ "___pthread_rwlock_", { "read-write lock", false, false } },
	{ "pthread_cond_", { "condition", false, false } },
	{ "__pthread_cond_", { "condition", false, false } },
	{ "___pthread_cond_", { "condition", false, false } },
	{ "sem_wait", { "semaphore", true, false } },
	{ "sem_timedwait", { "semaphore", true, false } },
	{ "sem_clockwait", { "semaphore", true, false } },
	{ "__new_sem_", { "semaphore", true, false } },
	{ "___new_sem_", { "semaphore", true, false } },
	{ "do_futex_wait", { "semaphore", true, false } },
	{ "pthread_barrier_", { "barrier", false, false } },
	{ "__pthread_barrier_", { "barrier", false, false } },
	{ "___pthread_barrier_", { "barrier", false, false } },
	{ "__pthread_clockjoin", { "end of a thread", true, false } },
	{ "__pthread_timedjoin", { "end of a thread", true, false } },
	{ "___pthread_join", { "end of a thread", true, false } },
	{ "pthread_join", { "end of a thread", true, false } },
	{ "__cxa_guard_acquire", { "initialisation of a static variable", false, false } },
	{ "take_gil", { "Python GIL", true, true } },
	{ "PyThread_acquire_lock", { "Python lock", false, false } },
	{ "_PyMutex_Lock", { "Python lock", true, false } },
	{ "ObjectMonitor::", { "Java monitor", true, false } },
	{ "Unsafe_Park", { "Java lock", true, false } },
	{ "Monitor::", { "lock of the JVM", false, false } },
	{ "Mutex::lock", { "lock of the JVM", false, false } },
	{ "runtime.lock", { "lock of Go's runtime", false, false } },
	{ "runtime.notesleep", { "work for a thread of Go", true, false } },
	{ "runtime.notetsleep", { "work for a thread of Go", true, false } },
	{ "std::sys::sync::mutex::", { "mutex", false, false } },
	{ "std::sys::sync::rwlock::", { "read-write lock", false, false } },
	{ "std::sys::sync::condvar::", { "condition", false, false } },
	{ "std::sys::sync::thread_parking::", { "parked thread", true, false } },
};

/* System calls whose first argument is a descriptor and that may wait. */
static const char *const of_descriptors[] = {
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2",
	"recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg", "accept", "accept4", "connect", "shutdown",
	"fsync", "fdatasync", "sync_file_range", "syncfs", "fallocate", "ftruncate", "flock", "fcntl", "ioctl", "close",
	"epoll_wait", "epoll_pwait", "epoll_pwait2", "getdents", "getdents64", "splice", "sendfile", "sendfile64",
	"vmsplice", "tee", "copy_file_range", "io_uring_enter", "lseek", "fadvise64", "newfstat", "fstat",
};

static bool begins(const char *text, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

#define BEGINS(text, prefixes) begins(text, prefixes, ARRAY_LEN(prefixes))

static bool is_kernel(const struct profile *p, uint32_t stack)
{
	const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

	return profile_module(p, at->module)->kind == PROFILE_KERNEL;
}

/* The function that was not inlined. */
static const char *function_of(const struct profile *p, uint32_t stack)
{
	const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

	if (!at->nlines)
		return "";
	return profile_text(p, p->functions.items[p->lines.items[at->first_line + at->nlines - 1].function].name);
}

const char *wait_kind_name(enum wait_kind kind)
{
	static const char *const names[WAIT_KINDS + 1] = {
		[WAIT_OTHER] = "other",
		[WAIT_ON_CPU] = "on a CPU",
		[WAIT_CPU] = "run queue",
		[WAIT_LOCK] = "lock",
		[WAIT_SLEEP] = "sleep",
		[WAIT_POLL] = "poll",
		[WAIT_PIPE] = "pipe",
		[WAIT_SOCKET] = "socket",
		[WAIT_TERMINAL] = "terminal",
		[WAIT_DISK] = "disk",
		[WAIT_PAGE_FAULT] = "page fault",
		[WAIT_CHILD] = "child",
		[WAIT_SIGNAL] = "signal",
		[WAIT_KERNEL_LOCK] = "kernel lock",
		[WAIT_KERNEL_WORK] = "kernel work",
		[WAIT_EARLIER] = "[waits since before the recording]",
		[WAIT_NOT_SAMPLED] = "[stack not sampled]",
		[WAIT_LOST] = "[switches lost]",
		[WAIT_SEVERAL] = "several",
		[WAIT_LEFT_OUT] = "[switches left out]",
	};

	return names[kind];
}

bool wait_kind_is_ended_by_thread(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_ON_CPU:
	case WAIT_CPU:
	case WAIT_SLEEP:
	case WAIT_DISK:
	case WAIT_PAGE_FAULT:
	case WAIT_EARLIER:
	case WAIT_LOST:
	case WAIT_LEFT_OUT:
		return false;
	default:
		return true;
	}
}

const char *profile_state_name(uint8_t state)
{
	static const char *const names[PROFILE_STATES] = {
		[PROFILE_STATE_NONE] = "on a CPU",
		[PROFILE_STATE_ON_CPU] = "on a CPU",
		[PROFILE_STATE_RUNNABLE] = "waiting for a CPU",
		[PROFILE_STATE_BLOCKED] = "blocked",
		[PROFILE_STATE_EARLIER] = "blocked since before",
		[PROFILE_STATE_LOST] = "[switches lost]",
		[PROFILE_STATE_LEFT_OUT] = "[switches left out]",
		[PROFILE_STATE_CALL] = "in a system call",
		[PROFILE_STATE_REQUEST] = "request to a device",
		[PROFILE_STATE_CONTENDED] = "waiting for a lock of the kernel",
	};

	return state < PROFILE_STATES ? names[state] : "";
}

static enum wait_kind kind_of_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (strncmp(name, functions[i].prefix, strlen(functions[i].prefix)) == 0)
			return functions[i].kind;
	return WAIT_OTHER;
}

enum wait_kind wait_frames_kind(const struct profile *p, const struct profile_sample *row)
{
	enum wait_kind kind = WAIT_OTHER;

	if (row->state == PROFILE_STATE_NONE || row->state == PROFILE_STATE_ON_CPU)
		return WAIT_ON_CPU;
	if (row->state == PROFILE_STATE_RUNNABLE)
		return WAIT_CPU;
	if (row->state == PROFILE_STATE_LOST)
		return WAIT_LOST;
	if (row->state == PROFILE_STATE_LEFT_OUT)
		return WAIT_LEFT_OUT;
	if (row->state == PROFILE_STATE_EARLIER)
		return WAIT_EARLIER;
	if (row->state == PROFILE_STATE_REQUEST)
		return WAIT_DISK;
	if (row->state == PROFILE_STATE_CONTENDED)
		return WAIT_KERNEL_LOCK;
	if (!row->stack)
		return WAIT_NOT_SAMPLED;
	for (uint32_t stack = row->stack; stack && is_kernel(p, stack);
	     stack = p->stacks.items[stack].parent) {
		const char *name = function_of(p, stack);

		if (BEGINS(name, fault_prefixes))
			return WAIT_PAGE_FAULT;
		if (kind == WAIT_OTHER)
			kind = kind_of_function(name);
	}
	return kind;
}

enum wait_kind wait_frames_span_kind(const struct profile *p, const struct profile_span *span)
{
	struct profile_sample row = { .stack = span->stack, .thread = span->thread, .state = span->state };

	return span->count == 1 ? wait_frames_kind(p, &row) : WAIT_SEVERAL;
}

const char *wait_frames_syscall(const struct profile *p, const struct profile_sample *row)
{
	for (uint32_t stack = row->stack; stack && is_kernel(p, stack);
	     stack = p->stacks.items[stack].parent) {
		const char *name = function_of(p, stack);

		if (BEGINS(name, fault_prefixes))
			return "[page fault]";
		for (size_t i = 0; i < ARRAY_LEN(syscall_prefixes); i++) {
			size_t len = strlen(syscall_prefixes[i]);

			if (strncmp(name, syscall_prefixes[i], len) == 0)
				return name + len;
		}
	}
	return "";
}

/*
 * Is the line an inlined wrapper: one that checks sizes in the C library's headers (_FORTIFY_SOURCE, on by default in Ubuntu's gcc), or a
 * runtime's?
 */
static bool is_inlined_wrapper(const struct profile *p, const struct profile_line *line)
{
	const struct profile_function *function = &p->functions.items[line->function];
	const char *file = profile_text(p, line->file ? line->file : function->file);

	return BEGINS(profile_text(p, function->name), runtime_wrappers) ||
	       (strstr(file, "/include/") && strstr(file, "/bits/") && !strstr(file, "/c++/"));
}

uint32_t wait_frames_inlined_wrappers(const struct profile *p, uint32_t location)
{
	const struct profile_location *at = &p->locations.items[location];
	uint32_t count = 0;

	while (count + 1 < at->nlines && is_inlined_wrapper(p, &p->lines.items[at->first_line + count]))
		count++;
	return count;
}

/* The C library's, or a runtime's; inlined ones are part of their callers. */
static bool is_wrapper(const struct profile *p, uint32_t stack)
{
	const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

	return BEGINS(profile_text(p, profile_module(p, at->module)->name), wrappers) ||
	       BEGINS(function_of(p, stack), runtime_wrappers);
}

bool wait_frames_takes_descriptor(const struct profile *p, const struct profile_sample *row)
{
	const char *call = wait_frames_syscall(p, row);
	size_t len = strcspn(call, "."); /* ".isra.0" */

	for (size_t i = 0; i < ARRAY_LEN(of_descriptors); i++)
		if (strlen(of_descriptors[i]) == len && strncmp(call, of_descriptors[i], len) == 0)
			return true;
	return false;
}

static const struct wait_lock *lock_of_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(locks); i++)
		if (strncmp(name, locks[i].prefix, strlen(locks[i].prefix)) == 0)
			return &locks[i].lock;
	return NULL;
}

struct wait_lock wait_frames_lock(const struct profile *p, const struct profile_sample *row)
{
	uint32_t leaf = wait_frames_leaf(p, row);
	struct wait_lock found = { "futex", false, false };

	for (uint32_t stack = row->stack; stack; stack = p->stacks.items[stack].parent) {
		const struct wait_lock *lock = is_kernel(p, stack) ? NULL : lock_of_function(function_of(p, stack));

		if (lock)
			found = *lock;
		if (stack == leaf)
			break;
	}
	return found;
}

/* The function that took a lock of the kernel. */
static uint32_t lock_leaf(const struct profile *p, const struct profile_sample *row)
{
	uint32_t stack = row->stack;

	while (stack && is_kernel(p, stack) && BEGINS(function_of(p, stack), lock_functions))
		stack = p->stacks.items[stack].parent;
	return stack ? stack : row->stack;
}

/* The innermost frame of @stack that is the program's own; if all is the kernel's, without those that begin with one of @passed. */
static uint32_t own_frame(const struct profile *p, uint32_t stack, const char *const *passed, size_t count)
{
	uint32_t kernel = 0, wrapper = 0, leaf = stack;

	for (; stack && is_kernel(p, stack); stack = p->stacks.items[stack].parent)
		if (!kernel && !begins(function_of(p, stack), passed, count))
			kernel = stack;
	for (; stack && is_wrapper(p, stack); stack = p->stacks.items[stack].parent)
		if (!wrapper)
			wrapper = stack;
	if (stack)
		return stack;
	return wrapper ? wrapper : kernel ? kernel : leaf;
}

uint32_t wait_frames_leaf(const struct profile *p, const struct profile_sample *row)
{
	if (row->state == PROFILE_STATE_CONTENDED)
		return lock_leaf(p, row);
	if (row->state == PROFILE_STATE_REQUEST)
		return own_frame(p, row->stack, block_layer, ARRAY_LEN(block_layer));
	return own_frame(p, row->stack, scheduler, ARRAY_LEN(scheduler));
}

const char *wait_frames_waker(const struct profile *p, uint32_t stack, struct arena *arena)
{
	const char *entry = entry_name(p, &(struct profile_sample){ .stack = stack }, arena);
	uint32_t own = own_frame(p, stack, wakers, ARRAY_LEN(wakers));
	const struct profile_location *at = &p->locations.items[p->stacks.items[own].location];

	if (strncmp(entry, "interrupt", strlen("interrupt")) == 0 || strncmp(entry, "softirq", strlen("softirq")) == 0)
		return entry;
	return own && at->nlines ? profile_text(p, p->functions.items[p->lines.items[at->first_line].function].name) : "";
}
