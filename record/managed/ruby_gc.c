/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby_gc.c - the code is
 *
 *	mov pointer(%rip),%rax; mov (%rax),%rax    the second if the first loads the pointer's address
 *	lea pointer(%rip),%rax; mov (%rax),%rax    or so
 *	test %rax,%rax; je ...                     in some
 *	mov SPACE(%rax),%rax; movzbl FLAGS(%rax),%eax; shr $BIT,%al; and $1,%eax
 */
#include "record/managed/ruby_gc.h"

#include "formats/arch.h"

#include <elf.h>

#define CODE_LEN 48
#define BIT_MAX	 7

void ruby_gc_init(struct ruby_gc *gc, uint64_t function)
{
	*gc = (struct ruby_gc){ .function = arch_native()->elf_machine == EM_X86_64 ? function : 0 };
}

/* Code that is being read, and where. */
struct code {
	uint8_t bytes[CODE_LEN];
	size_t at;
	uint64_t addr; /* of the first byte */
};

/* Does what comes next begin with the @len bytes @with? Then it is passed over. */
static bool take(struct code *code, const char *with, size_t len)
{
	if (len > CODE_LEN - code->at || memcmp(code->bytes + code->at, with, len) != 0)
		return false;
	code->at += len;
	return true;
}

#define TAKE(code, with) take(code, with, sizeof(with) - 1)

/* A number of one byte or four; 0 behind the end. */
static uint32_t number(struct code *code, size_t len)
{
	uint32_t value = 0;

	if (len <= CODE_LEN - code->at)
		memcpy(&value, code->bytes + code->at, len);
	code->at = len <= CODE_LEN - code->at ? code->at + len : CODE_LEN;
	return value;
}

/* What an address is that stands as a distance from behind itself. */
static uint64_t place(struct code *code)
{
	int64_t distance = (int32_t)number(code, sizeof(uint32_t));

	return code->addr + code->at + (uint64_t)distance;
}

/* The pointer to the machine in %rax. */
static bool take_pointer(struct code *code, struct ruby_gc *ret)
{
	bool address = TAKE(code, "\x48\x8d\x05"); /* lea */

	if (!address && !TAKE(code, "\x48\x8b\x05")) /* mov */
		return false;
	ret->pointer = place(code);
	bool loaded = TAKE(code, "\x48\x8b\x00"); /* mov (%rax),%rax */

	ret->indirect = !address && loaded;
	return loaded || !address;
}

static bool take_flag(struct code *code, struct ruby_gc *ret)
{
	if (TAKE(code, "\x48\x8b\x80")) /* mov SPACE(%rax),%rax */
		ret->space = number(code, sizeof(uint32_t));
	else if (TAKE(code, "\x48\x8b\x40"))
		ret->space = number(code, 1);
	else
		return false;
	if (!TAKE(code, "\x0f\xb6\x40")) /* movzbl FLAGS(%rax),%eax */
		return false;
	ret->flags = (uint8_t)number(code, 1);
	if (!TAKE(code, "\xc0\xe8")) /* shr $BIT,%al */
		return false;
	ret->bit = (uint8_t)number(code, 1);
	return ret->bit <= BIT_MAX && TAKE(code, "\x83\xe0\x01"); /* and $1,%eax */
}

static bool decode(struct code *code, struct ruby_gc *ret)
{
	TAKE(code, "\xf3\x0f\x1e\xfa"); /* endbr64 */
	if (!take_pointer(code, ret))
		return false;
	if (TAKE(code, "\x48\x85\xc0")) { /* test %rax,%rax */
		if (!TAKE(code, "\x74"))
			return false;
		number(code, 1);
	}
	return take_flag(code, ret);
}

/* Once; code that is not there yet is asked for again. */
static void learn(struct ruby_gc *gc, struct managed_view *view)
{
	struct code code = { .addr = gc->function };
	struct ruby_gc found = *gc;

	if (!managed_view_try(view, gc->function, code.bytes, sizeof(code.bytes)))
		return;
	if (!decode(&code, &found))
		found.function = 0;
	*gc = found;
}

bool ruby_gc_runs(struct ruby_gc *gc, struct managed_view *view)
{
	uint64_t at = gc->pointer;
	uint8_t flags;

	if (gc->function && !gc->pointer) {
		learn(gc, view);
		at = gc->pointer;
	}
	if (!gc->function || !at || (gc->indirect && !managed_view_try(view, at, &at, sizeof(at))))
		return false;
	if (!managed_view_try(view, at, &at, sizeof(at)) || !at || !managed_view_try(view, at + gc->space, &at, sizeof(at)))
		return false;
	return managed_view_try(view, at + gc->flags, &flags, sizeof(flags)) && flags >> gc->bit & 1;
}
