/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet_maker.h - a .NET assembly for tests: type My.Outer with method Run (1), type Inner in it with Deep (2) and Wide (3).
 *
 *	0x000  headers; the only section is at relative address 0x2000 and 0x200 in the file
 *	0x200  CLI header
 *	0x300  metadata, up to 0x700
 */
#ifndef UNIT_DOTNET_MAKER_H
#define UNIT_DOTNET_MAKER_H

#include <stdint.h>

/* @file has room for 0x200 + @section_len bytes, which are zero. */
void dotnet_maker_write(uint8_t *file, uint32_t section_len);

#endif
