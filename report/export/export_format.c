/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_format.c - the table that EXPORT_FORMATS makes.
 */
#include "report/export/export_format.h"

#define ROW(id, name) { name, &export_##id },
const struct export_row export_table[] = { EXPORT_FORMATS(ROW) { NULL, NULL } };
#undef ROW
