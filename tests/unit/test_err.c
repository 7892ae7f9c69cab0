/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/err.h"

#include <errno.h>

TEST(err_reads_from_the_outside_in)
{
	CLEANUP(err_freep) struct err *err = err_system(ENOENT, "cannot open '%s'", "a");

	err = err_wrap(err, "no image %d", 3);
	err = err_wrap(err, "annotate");
	CHECK_STR(err_message(err),
		  "annotate: no image 3: cannot open 'a': No such file or directory");
	CHECK_INT(err_kind(err), ERR_SYSTEM);
	CHECK_INT(err_errno(err), ENOENT);
	CHECK_INT(err_exit_status(err), 1);
	CHECK(!err_hint(err));
}

TEST(err_keeps_the_first_remedy)
{
	CLEANUP(err_freep) struct err *err = err_new(ERR_USAGE, "no");

	err = err_remedy(err, "try %s", "yes");
	err = err_remedy(err_wrap(err, "outer"), "try maybe");
	CHECK_STR(err_hint(err), "try yes");
	CHECK_STR(err_message(err), "outer: no");
	CHECK_INT(err_errno(err), 0);
	CHECK_INT(err_exit_status(err), 2);
}

TEST(err_of_success_stays_success)
{
	CHECK_OK(err_wrap(NULL, "outer"));
	CHECK_OK(err_remedy(NULL, "try"));
	err_free(NULL);
}
