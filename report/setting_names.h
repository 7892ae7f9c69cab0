/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setting_names.h - what preport's configuration files may say.
 */
#ifndef REPORT_SETTING_NAMES_H
#define REPORT_SETTING_NAMES_H

#include "formats/base/settings.h"

extern const struct setting_name setting_names[];

#endif
