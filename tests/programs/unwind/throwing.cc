// SPDX-License-Identifier: Apache-2.0
// throwing.cc - burns CPU time for MS milliseconds while an exception is in flight: in the destructor of a local that the
// unwinding runs. Callers in order: main, outer, place_throw, guard::~guard, burn.
#include <cstdlib>
#include <stdexcept>
#include <time.h>

volatile unsigned sink;
static unsigned long wanted_ms;

__attribute__((noinline)) static int burn()
{
	const clock_t end = clock() + (clock_t)(wanted_ms * (CLOCKS_PER_SEC / 1000));

	while (clock() < end)
		for (int i = 0; i < 100000; i++)
			sink = sink * 1664525 + 1013904223;
	return 1;
}

struct guard {
	__attribute__((noinline)) ~guard() { sink += (unsigned)burn(); }
};

__attribute__((noinline)) static int fail() { throw std::runtime_error("failure"); }

__attribute__((noinline)) static int place_throw(int n)
{
	guard g;

	return n ? place_throw(0) + (int)sink : fail() + (int)sink;
}

__attribute__((noinline)) static int outer(int n)
{
	try {
		return place_throw(n) + (int)sink;
	} catch (const std::runtime_error &) {
		return 1;
	}
}

int main(int, char **argv)
{
	wanted_ms = std::strtoul(argv[1], nullptr, 10) / 2;
	return outer(1) - 1;
}
