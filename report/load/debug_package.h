/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_package.h - how a distribution hands out the symbols that it strips off its programs.
 */
#ifndef REPORT_DEBUG_PACKAGE_H
#define REPORT_DEBUG_PACKAGE_H

#include "formats/base/arena.h"

#define DEBUG_PACKAGE_OS_RELEASE "/etc/os-release"

/*
 * What to type for the symbols of the stripped file at @path, by ID and ID_LIKE of the file @os_release: a command that names the
 * package, and the distribution's debuginfod server. Of a distribution that is not known, what goes everywhere.
 */
const char *debug_package_remedy(const char *os_release, const char *path, struct arena *arena);

#endif
