/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_callgrind.c - what valgrind wrote, against what callgrind_annotate says of it.
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static struct profile_sum of_stack(const struct import_case *c, const char *beginning)
{
	struct profile_sum sum = { 0 };

	for (size_t i = 0; i < c->p->samples.len; i++)
		if (strncmp(import_case_stack(c, i), beginning, strlen(beginning)) == 0)
			sum.weight += c->p->samples.items[i].weight;
	return sum;
}

TEST(callgrind_costs_and_callers_are_those_of_callgrind_annotate)
{
	struct import_case c;

	import_case_file(&c, "callgrind.out");
	CHECK_STR(c.importer->name, "callgrind");
	CHECK_INT(import_case_sum(&c, "Ir").weight, 112439);
	CHECK_INT(import_case_part(&c, "Ir", "leaf", NULL).weight, 111466);
	CHECK_INT(import_case_part(&c, "Ir", "mid", NULL).weight, 650);
	CHECK_INT(import_case_part(&c, "Ir", "main", NULL).weight, 259);
	CHECK_INT(of_stack(&c, "leaf:2<mid:3<main:5").weight, 110746);
	CHECK_INT(of_stack(&c, "leaf:2<rec:4").weight, 23);
	CHECK(isnan(import_case_sum(&c, "Ir").weight_sq)); /* counted, not sampled: there is no interval */
	import_case_close(&c);
}

/* Times are in units of 10 ns; PHP may give memory back, which no stack of costs can hold. */
TEST(callgrind_of_xdebug_has_its_units)
{
	struct import_case c;

	import_case_text(&c, "version: 1\ncreator: xdebug 3.2.0 (PHP 8.2.7)\ncmd: p.php\npart: 1\npositions: line\n\n"
			     "events: Time_(10ns) Memory_(bytes)\n\nfl=(1) php:internal\nfn=(1) php::sort\n4 776 -320\n\n"
			     "fl=(2) p.php\nfn=(2) {main}\n1 24 512\ncfl=(1)\ncfn=(1)\ncalls=1 0 0\n4 776 -320\n\nsummary: 800 512\n");
	CHECK_INT(import_case_sum(&c, "wall").weight, 8000);
	CHECK_INT(import_case_part(&c, "wall", "php::sort", NULL).weight, 7760);
	CHECK_INT(import_case_sum(&c, "memory").weight, 512);
	CHECK_STR(profile_text(c.p, c.p->types.items[0].unit), "ns");
	CHECK_STR(profile_text(c.p, c.p->types.items[1].unit), "bytes");
	CHECK(strstr(c.diag.entries->next->message, "2 negative costs"));
	import_case_close(&c);
}

/* a calls b and c, which both call d; d's costs go to them as their calls cost, and each event for itself. */
TEST(callgrind_costs_are_divided_among_callers)
{
	struct import_case c;

	import_case_text(&c, "events: A B\nfl=x.c\nfn=(1) a\n1 10 0\ncfn=(2) b\ncalls=1 0\n2 30 0\ncfn=(3) c\ncalls=1 0\n3 60 5\n"
			     "fn=(2)\n4 0 0\ncfn=(4) d\ncalls=3 0\n5 30 0\nfn=(3)\n6 0 1\ncfn=(4)\ncalls=1 0\n+1 60 4\n"
			     "fn=(4)\n9 90 4\n");
	CHECK_INT(import_case_sum(&c, "A").weight, 100);
	CHECK_INT(import_case_sum(&c, "B").weight, 5);
	CHECK_INT(of_stack(&c, "d:9<b:5<a:2").weight, 30);
	CHECK_INT(of_stack(&c, "d:9<c:7<a:3").weight, 64);
	import_case_close(&c);
}

/* Two functions that call each other, and calls that claim more than there is: nothing is lost and nothing is made up. */
TEST(callgrind_cycles_end_and_totals_stay)
{
	struct import_case c;

	import_case_text(&c, "events: A\nfn=a\n1 10\ncfn=b\ncalls=1 0\n2 1000\nfn=b\n3 20\ncfn=a\ncalls=1 0\n4 1000\n"
			     "fn=c\n1 5\ncfn=a\ncalls=9 0\n1 7\n");
	CHECK_INT(import_case_sum(&c, "A").weight, 35);
	CHECK_INT(import_case_part(&c, "A", "b", NULL).weight, 20);
	import_case_close(&c);
}

/* Two functions at each of 60 levels, each of which calls both of the next: 2^60 ways, whose costs nobody has. */
TEST(callgrind_ways_that_claim_more_than_there_is_are_not_all_followed)
{
	static const char *const claims[] = { "1152921504606846976", "9", "4611686018427387904" };
	char text[32768];

	for (size_t n = 0; n < ARRAY_LEN(claims); n++) {
		size_t len = (size_t)snprintf(text, sizeof(text), "events: A\nfn=root\n1 1\n");
		struct import_case c;

		for (unsigned i = 0; i < 60; i++)
			for (char from = i ? 'a' : 'r'; from <= (i ? 'b' : 'r'); from++) {
				if (i)
					len += (size_t)snprintf(text + len, sizeof(text) - len, "fn=%c%u\n", from, i);
				len += (size_t)snprintf(text + len, sizeof(text) - len,
							"cfn=a%u\ncalls=1 0\n1 %s\ncfn=b%u\ncalls=1 0\n1 %s\n", i + 1,
							claims[n], i + 1, claims[n]);
			}
		CHECK(len < sizeof(text) - 1);
		import_case_text(&c, text);
		CHECK_INT(import_case_sum(&c, "A").weight, 1);
		import_case_close(&c);
	}
}

/* --dump-instr=yes --dump-line=no */
TEST(callgrind_addresses_are_no_lines)
{
	struct import_case c;

	import_case_text(&c, "positions: instr\nevents: A\nfl=x.c\nfn=a\n0x401000 7\n");
	CHECK_INT(of_stack(&c, "a").weight, 7);
	import_case_close(&c);
}

TEST(callgrind_errors_have_a_line)
{
	static const char text[] = "events: A\nfn=a\n1 x\n", large[] = "events: A\nfn=a\n1 9223372036854775807\n";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, text, strlen(text), "x"), ERR_CORRUPT, "line 3: a cost is not a number");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, large, strlen(large), "x"), ERR_CORRUPT, "line 3: a cost is above 2^62");
	import_case_close(&c);
}
