/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_imported_names.c - names of other tools, mangled or not.
 */
#include "report/load/imported_names.h"
#include "tests/unit/test.h"

static uint32_t add(struct profile *p, const char *name)
{
	struct profile_function function = { .name = profile_string(p, name), .module = PROFILE_NONE };

	return profile_add_function(p, &function);
}

static const char *name_of(const struct profile *p, uint32_t function)
{
	return profile_text(p, p->functions.items[function].name);
}

TEST(imported_names_are_as_in_the_source)
{
	struct profile *p = profile_new();
	uint32_t cpp = add(p, "_ZN3net4Poll4waitEi"), mac = add(p, "__ZN3net4Poll4waitEi"), rust = add(p, "_RNvCs1234_7mycrate3run");
	uint32_t plain = add(p, "_start"), odd = add(p, "_Zebra"), other = add(p, "_Read");

	imported_names_demangle(p, DEMANGLE_FULL);
	CHECK_STR(name_of(p, cpp), "net::Poll::wait(int)");
	CHECK_STR(profile_text(p, p->functions.items[cpp].linkage_name), "_ZN3net4Poll4waitEi");
	CHECK_STR(name_of(p, mac), "net::Poll::wait(int)");
	CHECK_STR(name_of(p, rust), "mycrate::run");
	CHECK_STR(name_of(p, plain), "_start");
	CHECK_UINT(p->functions.items[plain].linkage_name, 0);
	CHECK_STR(name_of(p, odd), "_Zebra");
	CHECK_STR(name_of(p, other), "_Read");
	profile_free(p);
}

TEST(imported_names_stay_mangled_on_request)
{
	struct profile *p = profile_new();
	uint32_t cpp = add(p, "_ZN3net4Poll4waitEi");

	imported_names_demangle(p, DEMANGLE_OFF);
	CHECK_STR(name_of(p, cpp), "_ZN3net4Poll4waitEi");
	profile_free(p);
}
