// SPDX-License-Identifier: Apache-2.0
// exception.cc - waits for a debugger while an exception is in flight: in its constructor, or in a destructor
// that the stack's unwinding runs. With CRASH in the environment, it dies there of SIGSEGV instead.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

static volatile int sink;
static bool in_cleanup;

__attribute__((noinline)) static void wait_here()
{
	if (getenv("CRASH"))
		*reinterpret_cast<volatile int *>(static_cast<uintptr_t>(sink)) = 1;
	if (write(STDOUT_FILENO, "x", 1) != 1)
		_exit(1);
	for (;;)
		sink = sink + 1;
}

struct failure : std::runtime_error {
	failure() : std::runtime_error("failure")
	{
		if (!in_cleanup)
			wait_here();
	}
};

struct guard {
	~guard()
	{
		if (in_cleanup)
			wait_here();
	}
};

__attribute__((noinline)) static int fall(int depth)
{
	guard g;

	if (depth == 0)
		throw failure();
	return fall(depth - 1) + sink;
}

int main(int, char **argv)
{
	in_cleanup = std::strcmp(argv[1], "cleanup") == 0;
	try {
		return fall(5);
	} catch (const failure &) {
		return 1;
	}
}
