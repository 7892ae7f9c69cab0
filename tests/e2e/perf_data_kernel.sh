#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What perf record tells of cgroups and of BPF programs: preport names them as perf report does, also when both are gone.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
command -v perf >/dev/null || skip "perf is not installed"
need_system_wide

# record OUTPUT ARGUMENT...: perf record, which in 6.1 dies now and then (CAVEATS in precord.1).
record() {
	local output=$1 turn
	shift
	for turn in 1 2 3; do
		! perf record -B -q -a -e cpu-clock -F 499 -o "$output" "$@" >record.out 2>&1 || return 0
	done
	return 1
}

# A process in a cgroup of its own, where cgroups can be made here.
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=preport-e2e-$$
if [ -n "$root" ] && mkdir "$root/$group" 2>/dev/null; then
	record cgroup.data --all-cgroups -- \
		sh -c 'echo $$ >"$1/cgroup.procs"; exec sh -c "i=0; while [ \$i -lt 60000 ]; do i=\$((i + 1)); done"' sh "$root/$group" ||
		skip "perf cannot record here: $(tail -n 1 record.out)"
	rmdir "$root/$group"
	perf script -i cgroup.data --show-cgroup-events >script.txt 2>/dev/null || true
	if grep -q "CGROUP.*/$group" script.txt; then
		preport -i cgroup.data --by cgroup,process --format=csv 2>/dev/null | plain_csv | columns cgroup process >found
		grep -q "/$group	sh" found || { cat found; fail "the cgroup of a process is not known"; }
		! grep "/$group" found | grep -vE '	(sh|perf-exec)$' || fail "others are in that cgroup, too"
	fi
fi

cat >filter.c <<'CODE'
#include <linux/bpf.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#define WORK 4000
static struct bpf_insn code[WORK + 3];
int main(void)
{
	union bpf_attr attr;
	int pair[2], program;
	char byte = 0;

	code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 };
	for (int i = 1; i <= WORK; i++)
		code[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 3 };
	code[WORK + 1] = code[0];
	code[WORK + 2] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (unsigned long)code;
	attr.insn_cnt = WORK + 3;
	attr.license = (unsigned long)"GPL";
	strcpy(attr.prog_name, "busy_filter");
	program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (program < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 ||
	    setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof(program)) < 0)
		return 77;
	for (int i = 0; i < 20000; i++)
		if (send(pair[0], &byte, 1, 0) != 1 || recv(pair[1], &byte, 1, 0) != 1)
			return 1;
	return 0;
}
CODE
cc -O1 -o filter filter.c 2>/dev/null || skip "no C compiler is installed"
./filter || skip "no BPF program can be loaded here"
record bpf.data ./filter || skip "perf cannot record here: $(tail -n 1 record.out)"
perf script -i bpf.data -F comm,ip,sym >script.txt 2>/dev/null || skip "perf script cannot read what perf recorded"
theirs=$(grep -cE '^ *filter +[0-9a-f]+ bpf_prog_[0-9a-f]+_busy_filter' script.txt) || skip "the program is not compiled here"
ours=$(preport -i bpf.data --by leaf --comm filter --module '[bpf]' --format=csv 2>/dev/null | plain_csv | columns function samples |
	sed -nE 's/^bpf_prog_[0-9a-f]+_busy_filter	//p')
[ "$ours" = "$theirs" ] || fail "samples of the BPF program: perf script has $theirs, preport '$ours'"
