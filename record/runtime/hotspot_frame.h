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
 *
 * And the frame of the stub that each method calls as it is entered, if its code may have to be changed or left
 * (generate_method_entry_barrier() in stubGenerator_x86_64.cpp):
 *
 *	push $-1                room for a stack pointer to go back to
 *	push %rbp               CFA = rbp + 24, rbp saved at rbp
 *	mov  %rsp, %rbp
 */
#ifndef RUNTIME_HOTSPOT_FRAME_H
#define RUNTIME_HOTSPOT_FRAME_H

#include "formats/perf/jitdump.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The frame at code[at] of a method whose whole frame has *@len bytes, which becomes the length there. @code is its first @code_len
 * bytes, or more than @at and some behind it.
 */
enum jitdump_frame hotspot_frame_at(const uint8_t *code, size_t code_len, size_t at, uint32_t *len);

#define HOTSPOT_FRAME_BARRIER 24 /* bytes from where rbp points to the CFA */

/* Do the @len bytes of code end inside that stub? */
bool hotspot_frame_is_barrier(const uint8_t *code, size_t len);

/* How many words lie on the stack above the frame at the return address that @code, @len bytes, is at: what is taken off first. */
unsigned hotspot_frame_pushed(const uint8_t *code, size_t len);

#endif
