/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imported_names.c - a name that the demangler gives back as it was stays.
 */
#include "report/load/imported_names.h"

#include <stdbool.h>
#include <string.h>

/* Where the mangled name begins in @name, or NULL. */
static const char *mangled(const char *name)
{
	if (name[0] == '_' && name[1] == '_' && (name[2] == 'Z' || name[2] == 'R'))
		name++;
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') ? name : NULL;
}

void imported_names_demangle(struct profile *p, enum demangle_how how)
{
	struct demangler *demangler = how == DEMANGLE_OFF ? NULL : demangler_new(how);

	for (size_t i = 0; demangler && i < p->functions.len; i++) {
		struct profile_function *function = &p->functions.items[i];
		const char *from = mangled(profile_text(p, function->name));
		const char *name = from ? demangler_name(demangler, from) : NULL;

		if (!name || strcmp(name, from) == 0)
			continue;
		if (!function->linkage_name)
			function->linkage_name = function->name;
		function->name = profile_string(p, name);
	}
	demangler_free(demangler);
}
