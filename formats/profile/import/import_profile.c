/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_profile.c - open, recognise, read; and what the samples' times say where the file says nothing.
 */
#include "formats/profile/import/import_profile.h"

#include "formats/profile/import/import_file.h"
#include "formats/profile/import/import_table.h"

static struct err *read_file(int fd, const char *name, struct diag *diag, struct profile *p,
			     struct profile_facts *facts)
{
	const struct importer *importer;
	struct import_file file;
	struct err *err = import_file_open(fd, name, &file);

	if (err)
		return err;
	err = import_table_find(&file.input, &importer);
	if (!err)
		err = import_table_read(importer, &file.input, p, facts, diag);
	if (!err)
		err = import_file_check(&file);
	if (!err && !*facts->tool)
		facts->tool = importer->name;
	import_file_close(&file);
	return err;
}

struct err *import_profile(int fd, const char *name, struct diag *diag, struct profile **ret,
			   struct profile_facts *ret_facts)
{
	struct profile *p = profile_new();
	struct profile_facts facts;
	struct err *err;

	profile_facts_init(&facts);
	err = read_file(fd, name, diag, p, &facts);
	if (err) {
		profile_free(p);
		profile_facts_deinit(&facts);
		return err;
	}
	facts.sums_only = true;
	profile_facts_from_times(&facts, p);
	*ret = p;
	*ret_facts = facts;
	return NULL;
}
