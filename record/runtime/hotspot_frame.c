/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_frame.c - instructions that take down or set up a frame of exactly this length are looked for, so that bytes that only look
 * like one do not count.
 */
#include "record/runtime/hotspot_frame.h"

#include "formats/base/compiler.h"

#include <string.h>

#define PUSH_RBP      0x55
#define POP_RBP	      0x5d
#define RET	      0xc3
#define PROLOGUE_MAX  512 /* bytes from the beginning: stubs for calls of another class come first */
#define EPILOGUE_MAX  24  /* bytes from "pop" to "ret" */

/* Is "add" or "sub" (@modrm) of @value to the stack pointer at code[at]? Its length; 0 if not. */
static size_t is_change(const uint8_t *code, size_t len, size_t at, uint8_t modrm, uint32_t value)
{
	uint32_t found;

	if (at + 4 > len || code[at] != 0x48 || code[at + 2] != modrm)
		return 0;
	if (code[at + 1] == 0x83)
		return value < 128 && code[at + 3] == value ? 4 : 0;
	if (code[at + 1] != 0x81 || at + 7 > len)
		return 0;
	memcpy(&found, code + at + 3, sizeof(found));
	return found == value ? 7 : 0;
}

#define SUB 0xec
#define ADD 0xc4

/* mov %rsp, %rbp between the two, as wrappers of native methods have it */
static size_t skip_move(const uint8_t *code, size_t len, size_t at)
{
	bool is = at + 3 <= len && code[at] == 0x48 &&
		  ((code[at + 1] == 0x8b && code[at + 2] == 0xec) || (code[at + 1] == 0x89 && code[at + 2] == 0xe5));

	return is ? 3 : 0;
}

/* Is @at in the prologue? Then *@ret is its frame. */
static bool in_prologue(const uint8_t *code, size_t code_len, size_t at, uint32_t *len, enum jitdump_frame *ret)
{
	for (size_t i = 0; i < MIN(code_len, (size_t)PROLOGUE_MAX); i++) {
		size_t move = code[i] == PUSH_RBP ? skip_move(code, code_len, i + 1) : 0;
		bool pushes = code[i] == PUSH_RBP && is_change(code, code_len, i + 1 + move, SUB, *len - 16);
		size_t sub = pushes ? 0 : is_change(code, code_len, i, SUB, *len - 8);

		if (!pushes && !sub)
			continue;
		if (at <= i) {
			*ret = JITDUMP_FRAME_NOT_SAVED;
			*len = 8;
			return true;
		}
		if (pushes && at <= i + 1 + move) {
			*ret = JITDUMP_FRAME_SAVED;
			*len = 16;
			return true;
		}
		*ret = JITDUMP_FRAME_NOT_SAVED;
		return sub && at == i + sub;
	}
	return false;
}

/* Does code[at] lie right behind an "add" that takes down the frame? */
static bool behind_add(const uint8_t *code, size_t at, uint32_t len)
{
	return (at >= 4 && is_change(code, at, at - 4, ADD, len - 16) == 4) ||
	       (at >= 7 && is_change(code, at, at - 7, ADD, len - 16) == 7);
}

static bool in_epilogue(const uint8_t *code, size_t code_len, size_t at, uint32_t *len, enum jitdump_frame *ret)
{
	if (at < code_len && code[at] == POP_RBP && behind_add(code, at, *len)) {
		*ret = JITDUMP_FRAME_SAVED;
		*len = 16;
		return true;
	}
	for (size_t back = 1; back <= EPILOGUE_MAX && back <= at; back++) {
		if (code[at - back] == POP_RBP && behind_add(code, at - back, *len)) {
			*ret = JITDUMP_FRAME_NOT_SAVED;
			*len = 8;
			return true;
		}
		if (code[at - back] == RET)
			return false;
	}
	return false;
}

enum jitdump_frame hotspot_frame_at(const uint8_t *code, size_t code_len, size_t at, uint32_t *len)
{
	enum jitdump_frame frame = JITDUMP_FRAME_SAVED;

	if (*len >= 16 && !in_prologue(code, code_len, at, len, &frame) && !in_epilogue(code, code_len, at, len, &frame))
		frame = JITDUMP_FRAME_SAVED;
	return frame;
}

bool hotspot_frame_is_barrier(const uint8_t *code, size_t len)
{
	static const uint8_t begin[] = { 0x68, 0xff, 0xff, 0xff, 0xff, PUSH_RBP, 0x48, 0x8b, 0xec };

	for (size_t at = len; at >= sizeof(begin); at--) {
		if (memcmp(code + at - sizeof(begin), begin, sizeof(begin)) == 0)
			return true;
		if (code[at - 1] == RET)
			return false;
	}
	return false;
}

/* pop of any register but rbp, which ends a frame */
unsigned hotspot_frame_pushed(const uint8_t *code, size_t len)
{
	unsigned count = 0;
	size_t at = 0;

	while (at < len) {
		size_t prefix = code[at] == 0x41; /* r8 and up */
		uint8_t opcode = at + prefix < len ? code[at + prefix] : 0;

		if (opcode < 0x58 || opcode > 0x5f || (opcode == 0x5d && !prefix))
			break;
		at += prefix + 1;
		count++;
	}
	return count;
}
