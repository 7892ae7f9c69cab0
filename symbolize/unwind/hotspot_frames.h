/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_frames.h - frames of HotSpot, the Java virtual machine, that neither a table nor their code explains; x86-64.
 *
 *	rbp ─► | caller's rbp | return address |       the interpreter's frame
 *	rbp-8    | the caller's stack pointer |        since it moves the caller's arguments into its own frame
 *	rbp-64   | the bytecode               |        that calls; r13 has it while it is executed
 */
#ifndef RUNTIME_HOTSPOT_FRAMES_H
#define RUNTIME_HOTSPOT_FRAMES_H

#include "formats/base/arena.h"
#include "symbolize/name/jit_map.h"
#include "symbolize/unwind/cfi_rule.h"

#define HOTSPOT_FRAMES_BYTECODE	    (-64) /* from rbp */
#define HOTSPOT_FRAMES_BYTECODE_REG 13

/* The rule of @symbol, a line of a perf map, if it is HotSpot's interpreter; false if it is not. To be checked, as code_rows.h's. */
bool hotspot_frames_rule(struct cfi_rules *rules, const struct arch *arch, const struct jit_symbol *symbol,
			 uint32_t *ret_rule);

/*
 * The rule at an address whose frame the recorder read in the machine's tables; false if that is not known. To be checked likewise.
 */
bool hotspot_frames_place_rule(struct cfi_rules *rules, const struct arch *arch, const struct jit_place *place,
			       uint32_t *ret_rule);

/*
 * Make @place's frame longer by what its method has pushed at that address, by @code, the rule that code_rows.h reads off the
 * method. Intrinsics that the compiler put into it do so (string_compare() in macroAssembler_x86.cpp); the tables give the frame
 * without. A difference that a few pushes do not explain changes nothing, nor does one at either end of the method, where the
 * recorder has looked at the instructions itself.
 */
void hotspot_frames_add_pushes(struct jit_place *place, const struct cfi_rule *code);

/*
 * Where a method begins that may not be entered any more, HotSpot has put a jump over the touch of the stack's next pages. A copy of
 * @symbol's code in @arena with what stood there before; the code itself if nothing was put there.
 */
const uint8_t *hotspot_frames_code(const struct jit_symbol *symbol, struct arena *arena);

#endif
