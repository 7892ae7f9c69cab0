/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_module.h - the program that a profile is about, for formats that have a place for one name only.
 */
#ifndef FORMATS_PROFILE_MAIN_MODULE_H
#define FORMATS_PROFILE_MAIN_MODULE_H

#include "formats/profile/profile.h"

/*
 * The module that the main thread of the heaviest process began in, by @event; of processes whose main thread was not seen
 * to begin anywhere, the next one. 0, the first module, if no process has it.
 */
uint32_t main_module(const struct profile *p, uint32_t event);

#endif
