/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_probe.c - unwinds live threads that it stops with ptrace, for comparison with other unwinders.
 *
 *	unwind_probe PID              the chain of every thread
 *	unwind_probe --dump ARCH MAPS REGS STACK
 *	                              the chain of a thread that somebody else stopped, maybe on another kind of
 *	                              machine: MAPS as in /proc, REGS numbers in the order of perf, STACK bytes from
 *	                              the stack pointer on
 *	unwind_probe --steps N COMMAND [ARG…]
 *	                              run COMMAND until it raises SIGTRAP (int3), then single-step it N times and
 *	                              compare each chain with a shadow stack kept by watching calls, returns and
 *	                              signals; a chain is incomplete if it says so, and otherwise has all of it
 *
 * A chain is printed as one line "thread TID", one line per frame "ADDRESS MODULE+0xOFFSET how", and one
 * line "stop REASON".
 */
#include "formats/base/arena.h"
#include "formats/base/vec.h"
#include "symbolize/elf/vdso.h"
#include "symbolize/unwind/unwind.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SNAPSHOT_MAX (1u << 20)

struct probe {
	pid_t pid;
	int mem; /* /proc/PID/mem */
	struct recording rec;
	struct diag diag;
	struct module_table *modules;
	struct space_table *spaces;
	struct unwinder *unwinder;
	VEC(uint32_t) slots;
	VEC(uint64_t) words;
	uint64_t snapshot[SNAPSHOT_MAX / 8];
};

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "unwind_probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The kernel says which vdso it is; here it is our own. */
static void identify_vdso(struct event_mmap *map)
{
	size_t len, id_len;
	const uint8_t *bytes = vdso_own(&len), *id;
	struct image *img;
	struct err *err;

	if (!bytes)
		return;
	err = image_open_memory(bytes, len, "[vdso]", &img);
	if (err) {
		err_free(err);
		return;
	}
	id = image_build_id(img, &id_len);
	if (id && id_len <= sizeof(map->build_id)) {
		memcpy(map->build_id, id, id_len);
		map->build_id_len = (uint8_t)id_len;
	}
	image_close(img);
}

/* Feed one line of /proc/PID/maps as a mapping. */
static void add_mapping(struct probe *p, char *line)
{
	struct event ev = { .kind = EVENT_MMAP, .pid = (uint32_t)p->pid, .tid = (uint32_t)p->pid };
	char perms[8];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &ev.mmap.start,
		   &ev.mmap.end, perms, &ev.mmap.file_offset, &path) < 4)
		return;
	if (!strchr(perms, 'x'))
		return;
	ev.mmap.flags = EVENT_MMAP_EXEC;
	ev.mmap.path = line[path] ? line + path : "//anon";
	if (strcmp(ev.mmap.path, "[vdso]") == 0 && p->rec.arch == arch_native())
		identify_vdso(&ev.mmap);
	space_table_apply(p->spaces, &ev);
}

static void read_mappings(struct probe *p, const char *path)
{
	char line[4400];
	FILE *maps = fopen(path, "r");

	if (!maps)
		die(path);
	while (fgets(line, sizeof(line), maps))
		add_mapping(p, line);
	fclose(maps);
}

static void open_unwinder(struct probe *p, const struct arch *arch)
{
	p->rec = (struct recording){ .arch = arch };
	p->modules = module_table_new(&p->rec, NULL, &p->diag);
	p->spaces = space_table_new(p->modules);
	p->unwinder = unwinder_new(p->modules, p->spaces, &(struct unwind_options){ 0 });
}

static void open_process(struct probe *p, pid_t pid)
{
	char path[64];

	p->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	p->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (p->mem < 0)
		die(path);
	open_unwinder(p, arch_native());
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	read_mappings(p, path);
}

static void close_process(struct probe *p)
{
	unwinder_free(p->unwinder);
	space_table_free(p->spaces);
	module_table_free(p->modules);
	diag_deinit(&p->diag);
	vec_deinit(&p->slots);
	vec_deinit(&p->words);
	if (p->mem >= 0)
		close(p->mem);
}

#if defined(__x86_64__)
static void read_regs(pid_t tid, struct event_regs *ret)
{
	struct user_regs_struct u;
	struct iovec io = { &u, sizeof(u) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) < 0)
		die("registers");
	*ret = (struct event_regs){ .mask = 0x1ffff,
				    .values = { u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp,
						u.rsp, u.r8, u.r9, u.r10, u.r11, u.r12, u.r13,
						u.r14, u.r15, u.rip } };
}
#else
static void read_regs(pid_t tid, struct event_regs *ret)
{
	struct user_regs_struct u;
	struct iovec io = { &u, sizeof(u) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) < 0)
		die("registers");
	*ret = (struct event_regs){ .mask = (1ULL << 33) - 1 };
	memcpy(ret->values, &u, 33 * sizeof(uint64_t));
}
#endif

/* @len bytes of the snapshot as sparse words, as the recorder keeps them but without dropping any. */
static struct event_stack sparse_stack(struct probe *p, uint64_t base, size_t len)
{
	p->slots.len = p->words.len = 0;
	for (uint32_t i = 0; i < len / 8; i++) {
		if (p->snapshot[i]) {
			vec_push(&p->slots, i);
			vec_push(&p->words, p->snapshot[i]);
		}
	}
	return (struct event_stack){ .base = base,
				     .end = base + len / 8 * 8,
				     .nwords = p->words.len,
				     .slots = p->slots.items,
				     .words = p->words.items,
				     .cut = len == sizeof(p->snapshot) };
}

/* The live stack. */
static struct event_stack read_stack(struct probe *p, uint64_t sp)
{
	uint64_t base = (sp + 7) / 8 * 8;
	ssize_t len = 0;

	/* Page by page up to where memory ends. */
	while ((size_t)len < sizeof(p->snapshot)) {
		size_t want = 4096 - (base + (uint64_t)len) % 4096;

		if (want > sizeof(p->snapshot) - (size_t)len)
			want = sizeof(p->snapshot) - (size_t)len;
		if (pread(p->mem, (char *)p->snapshot + len, want, (off_t)(base + (uint64_t)len)) !=
		    (ssize_t)want)
			break;
		len += (ssize_t)want;
	}
	return sparse_stack(p, base, (size_t)len);
}

static void walk(struct probe *p, pid_t tid, const struct event_regs *regs, struct event_stack stack,
		 struct unwind_chain *ret)
{
	struct event ev = { .kind = EVENT_SAMPLE, .pid = (uint32_t)p->pid, .tid = (uint32_t)tid };

	ev.sample.mode = EVENT_MODE_USER;
	ev.sample.regs = regs;
	ev.sample.ip = regs->values[p->rec.arch->ip];
	ev.sample.stack = stack;
	unwinder_walk(p->unwinder, &ev, ret);
}

static void unwind(struct probe *p, pid_t tid, struct event_regs *regs, struct unwind_chain *ret)
{
	read_regs(tid, regs);
	walk(p, tid, regs, read_stack(p, regs->values[p->rec.arch->sp]), ret);
}

static void print_chain(const struct unwind_chain *chain)
{
	for (size_t i = 0; i < chain->nframes; i++) {
		const struct unwind_frame *f = &chain->frames[i];

		printf("0x%016" PRIx64 " %s+0x%" PRIx64 " %s\n", f->ip, f->module->path, f->vaddr,
		       unwind_how_name(f->how));
	}
	printf("stop %s%s%s\n", stack_stop_name(chain->stop), chain->stop_module ? " in " : "",
	       chain->stop_module ? chain->stop_module->path : "");
}

static void probe_thread(struct probe *p, pid_t tid)
{
	struct unwind_chain chain;
	struct event_regs regs;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0)
		die("attach");
	if (waitpid(tid, NULL, __WALL) < 0)
		die("wait");
	unwind(p, tid, &regs, &chain);
	printf("thread %d\n", (int)tid);
	print_chain(&chain);
	ptrace(PTRACE_DETACH, tid, 0, 0);
}

static void probe_process(struct probe *p, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	open_process(p, pid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			probe_thread(p, (pid_t)atoi(entry->d_name));
	}
	closedir(dir);
	close_process(p);
}

static int probe_dump(struct probe *p, char **argv)
{
	const struct arch *arch = arch_by_name(argv[0]);
	struct event_regs regs = { 0 };
	struct unwind_chain chain;
	FILE *file;
	size_t len;
	unsigned n = 0;

	if (!arch || !(file = fopen(argv[2], "r")))
		die("dump");
	while (n < ARRAY_LEN(regs.values) && fscanf(file, "%" SCNi64, (int64_t *)&regs.values[n]) == 1)
		regs.mask |= 1ULL << n++;
	fclose(file);
	file = fopen(argv[3], "r");
	if (!file)
		die(argv[3]);
	len = fread(p->snapshot, 1, sizeof(p->snapshot), file);
	fclose(file);
	p->pid = 1;
	p->mem = -1;
	open_unwinder(p, arch);
	read_mappings(p, argv[1]);
	walk(p, 1, &regs, sparse_stack(p, regs.values[arch->sp], len), &chain);
	print_chain(&chain);
	close_process(p);
	return 0;
}

/* ---- single steps ---------------------------------------------------------------------------------- */

struct shadow {
	VEC(uint64_t) returns; /* the newest last */
};

static uint64_t peek(struct probe *p, uint64_t address)
{
	uint64_t word = 0;

	if (pread(p->mem, &word, sizeof(word), (off_t)address) < 0)
		return 0;
	return word;
}

/* Is the next instruction the system call that ends a signal handler? x86-64's, as all that steps is. */
static bool is_sigreturn(struct probe *p, const struct event_regs *regs)
{
	uint16_t code = 0;

	return regs->values[0] == SYS_rt_sigreturn &&
	       pread(p->mem, &code, sizeof(code), (off_t)regs->values[p->rec.arch->ip]) == sizeof(code) &&
	       code == 0x050f;
}

/*
 * A call leaves the address behind it on top of the stack; a return takes it from there. A signal is a call by nobody
 * of its handler, by the trampoline, whose caller is what was interrupted.
 */
static void follow(struct probe *p, struct shadow *s, const struct event_regs *before,
		   const struct event_regs *after)
{
	const struct arch *arch = p->rec.arch;
	uint64_t old_ip = before->values[arch->ip], ip = after->values[arch->ip];
	uint64_t old_sp = before->values[arch->sp], sp = after->values[arch->sp];
	uint64_t pushed = peek(p, sp);

	if (sp == old_sp - 8 && pushed > old_ip && pushed - old_ip <= 7 && ip != pushed) {
		uint8_t code[8];
		size_t len = (size_t)(pushed - old_ip);

		if (pread(p->mem, code, len, (off_t)old_ip) == (ssize_t)len &&
		    arch->ends_with_call(code, len))
			vec_push(&s->returns, pushed);
	} else if (sp > old_sp && s->returns.len && ip == s->returns.items[s->returns.len - 1] &&
		   peek(p, sp - 8) == ip) {
		s->returns.len--;
	} else if (s->returns.len && ip == s->returns.items[s->returns.len - 1] &&
		   is_sigreturn(p, before)) {
		s->returns.len--;
	}
}

/* A step of the process, into the handler if a signal is due. False if it has ended. */
static bool step_once(struct probe *p, struct shadow *s, struct event_regs *regs)
{
	struct event_regs before = *regs;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, p->pid, 0, 0) < 0 || waitpid(p->pid, &status, 0) < 0)
		die("step");
	if (!WIFSTOPPED(status))
		return false;
	read_regs(p->pid, regs);
	follow(p, s, &before, regs);
	if (WSTOPSIG(status) == SIGTRAP)
		return true;
	before = *regs;
	if (ptrace(PTRACE_SINGLESTEP, p->pid, 0, WSTOPSIG(status)) < 0 || waitpid(p->pid, &status, 0) < 0)
		die("signal");
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		return false;
	read_regs(p->pid, regs);
	vec_push(&s->returns, before.values[p->rec.arch->ip]);
	vec_push(&s->returns, peek(p, regs->values[p->rec.arch->sp]));
	return true;
}

/* A chain that says that it is not complete has to be the beginning of what is true. */
static bool matches(const struct unwind_chain *chain, const struct shadow *s)
{
	if (chain->nframes > s->returns.len + 1 ||
	    (chain->stop == STACK_STOP_ROOT && chain->nframes < s->returns.len + 1))
		return false;
	for (size_t i = 1; i < chain->nframes; i++) {
		if (chain->frames[i].ip != s->returns.items[s->returns.len - i])
			return false;
	}
	return true;
}

static void print_mismatch(const struct unwind_chain *chain, const struct shadow *s)
{
	print_chain(chain);
	for (size_t i = s->returns.len; i > 0; i--)
		printf("  expected 0x%016" PRIx64 "\n", s->returns.items[i - 1]);
}

static int step_process(struct probe *p, unsigned long nsteps, char **argv)
{
	struct event_regs regs;
	struct unwind_chain chain;
	struct shadow shadow = { 0 };
	unsigned long wrong = 0, incomplete = 0, done;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0); /* at exec */
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
		fprintf(stderr, "unwind_probe: '%s' did not stop itself\n", argv[0]);
		return 1;
	}
	open_process(p, pid);
	unwind(p, pid, &regs, &chain);
	for (size_t i = chain.nframes; i > 1; i--)
		vec_push(&shadow.returns, chain.frames[i - 1].ip);
	print_chain(&chain);
	for (done = 0; done < nsteps && step_once(p, &shadow, &regs); done++) {
		unwind(p, pid, &regs, &chain);
		if (chain.stop != STACK_STOP_ROOT && incomplete++ < 5)
			print_chain(&chain);
		if (!matches(&chain, &shadow) && wrong++ < 5)
			print_mismatch(&chain, &shadow);
	}
	printf("%lu steps, %lu incomplete, %lu wrong\n", done, incomplete, wrong);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	vec_deinit(&shadow.returns);
	close_process(p);
	return wrong || !done;
}

int main(int argc, char **argv)
{
	static struct probe p;

	if (argc > 3 && strcmp(argv[1], "--steps") == 0)
		return step_process(&p, strtoul(argv[2], NULL, 10), argv + 3);
	if (argc == 6 && strcmp(argv[1], "--dump") == 0)
		return probe_dump(&p, argv + 2);
	if (argc != 2) {
		fprintf(stderr, "usage: unwind_probe PID | --dump ARCH MAPS REGS STACK | --steps N COMMAND [ARG...]\n");
		return 2;
	}
	probe_process(&p, (pid_t)atoi(argv[1]));
	return 0;
}
