/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_frame.h - how much of the frame of a compiled method exists at an address in its prologue or epilogue; x86-64.
 *
 *	push %rbp               CFA = rsp + 8, behind it rsp + 16 and rbp saved
 *	sub  $frame - 16, %rsp
 *	…                       CFA = rsp + frame
 *	add  $frame - 16, %rsp
 *	pop  %rbp               CFA = rsp + 16, behind it rsp + 8
 *	cmp  …(%r15), %rsp; ja …; ret
 */
#ifndef RUNTIME_HOTSPOT_FRAME_H
#define RUNTIME_HOTSPOT_FRAME_H

#include "formats/perf/jitdump.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The frame at code[at] of a method whose whole frame has *@len bytes, which becomes the length there. @code is its first @code_len
 * bytes, or more than @at and some behind it.
 */
enum jitdump_frame hotspot_frame_at(const uint8_t *code, size_t code_len, size_t at, uint32_t *len);

#endif
