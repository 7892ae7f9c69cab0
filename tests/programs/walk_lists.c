/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_lists.c - burns CPU in one loop over a list and one over an array of structs: what --by data-field should name.
 *
 *	walk_lists MILLISECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct order {
	struct order *next;
	long number;
	double price;
	char customer[64];
};

struct cell {
	int colour;
	int height;
};

#define ORDERS 200000
#define CELLS  100000

__attribute__((noinline)) static double sum_orders(const struct order *list)
{
	double sum = 0;

	for (; list; list = list->next)
		sum += list->price;
	return sum;
}

__attribute__((noinline)) static long sum_cells(const struct cell *cells, long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
		if (cells[i].colour)
			sum += cells[i].height;
	return sum;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end = argc > 1 ? atof(argv[1]) : 1000, sum = 0;
	struct order *orders = calloc(ORDERS, sizeof(*orders));
	struct cell *cells = calloc(CELLS, sizeof(*cells));

	for (long i = 0; i < ORDERS; i++)
		orders[i] = (struct order){ .next = i + 1 < ORDERS ? &orders[i + 1] : NULL,
					    .price = (double)i };
	for (long i = 0; i < CELLS; i++)
		cells[i] = (struct cell){ i % 3 != 0, (int)i };
	while (cpu_ms() < end) {
		sum += sum_orders(orders);
		sum += (double)sum_cells(cells, CELLS);
	}
	printf("%g\n", sum);
	return 0;
}
