/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_codec.c - a table of numbers on both sides that grows in step.
 */
#include "formats/trace/value_codec.h"

#include "formats/base/zigzag.h"

#include <string.h>

#define NUMBERED_MAX 65536 /* values a block */

/* Low two bits of a register's code. */
enum reg_code { REG_VALUE, REG_SELF, REG_NEIGHBOUR, REG_IP };

void value_encoder_reset(struct value_encoder *values)
{
	map_clear(&values->numbers);
	values->last_new = 0;
}

void value_encoder_deinit(struct value_encoder *values)
{
	map_deinit(&values->numbers);
}

void value_decoder_deinit(struct value_decoder *values)
{
	vec_deinit(&values->values);
}

/* 0 for a new value, or the number of one seen before. */
void value_put(struct value_encoder *values, struct writer *w, uint64_t value)
{
	uint64_t *number = map_get(&values->numbers, value);

	if (number) {
		writer_uleb(w, *number);
		return;
	}
	writer_uleb(w, 0);
	writer_uleb(values->fresh, zigzag_encode(value - values->last_new));
	values->last_new = value;
	if (values->numbers.len < NUMBERED_MAX) {
		uint64_t next = values->numbers.len + 1;

		*map_put(&values->numbers, value, NULL) = next;
	}
}

uint64_t value_get(struct value_decoder *values, struct reader *r)
{
	uint64_t number = reader_uleb(r, "value number");

	if (number > values->values.len) {
		reader_fail(r, "value number");
		return 0;
	}
	if (number)
		return values->values.items[number - 1];

	uint64_t value = values->last_new + zigzag_decode(reader_uleb(values->fresh, "new value"));

	values->last_new = value;
	if (values->values.len < NUMBERED_MAX)
		vec_push(&values->values, value);
	return value;
}

void chain_put(struct value_encoder *values, struct writer *w, const uint64_t *prev, size_t nprev,
	       const uint64_t *ips, size_t nips)
{
	size_t shared = 0;

	while (shared < nprev && shared < nips &&
	       prev[nprev - 1 - shared] == ips[nips - 1 - shared])
		shared++;
	writer_uleb(w, nips - shared);
	if (nprev)
		writer_uleb(w, nprev - shared);
	for (size_t i = 0; i < nips - shared; i++)
		value_put(values, w, ips[i]);
}

struct chain_shape chain_get_shape(struct reader *r, size_t nprev)
{
	uint64_t fresh = reader_uleb(r, "chain length");
	uint64_t dropped = nprev ? reader_uleb(r, "shared chain length") : 0;

	if (fresh > reader_left(r) || dropped > nprev || fresh + nprev - dropped > CHAIN_IPS_MAX) {
		reader_fail(r, "chain");
		return (struct chain_shape){ 0 };
	}
	return (struct chain_shape){ .nips = fresh + nprev - dropped, .nshared = nprev - dropped };
}

void chain_get(struct value_decoder *values, struct reader *r, const uint64_t *prev, size_t nprev,
	       struct chain_shape shape, uint64_t *ret)
{
	size_t fresh = shape.nips - shape.nshared;

	for (size_t i = 0; i < fresh; i++)
		ret[i] = value_get(values, r);
	if (shape.nshared)
		memcpy(ret + fresh, prev + nprev - shape.nshared, shape.nshared * sizeof(*ret));
}

/* The cheapest way to say @value. */
static void reg_put(struct value_encoder *values, struct writer *w, uint64_t value, uint64_t self,
		    uint64_t neighbour)
{
	uint64_t by_self = zigzag_encode(value - self);
	uint64_t by_neighbour = zigzag_encode(value - neighbour);
	uint64_t nearest = MIN(by_self, by_neighbour);

	if (nearest >= VALUE_NUMBERED_MIN && value >= VALUE_NUMBERED_MIN &&
	    (map_get(&values->numbers, value) || nearest >= 1ULL << 32)) {
		writer_u8(w, REG_VALUE);
		value_put(values, w, value);
		return;
	}
	if (nearest >= 1ULL << 61) { /* no room for the two bits */
		writer_u8(w, REG_VALUE);
		value_put(values, w, value);
		return;
	}
	writer_uleb(w, nearest << 2 | (by_self == nearest ? REG_SELF : REG_NEIGHBOUR));
}

void regs_put(struct value_encoder *values, struct writer *w, const struct event_regs *prev,
	      const struct event_regs *regs, uint64_t ip)
{
	uint64_t changed = 0, neighbour = 0;

	for (unsigned i = 0; i < ARCH_REGS_MAX; i++) {
		if (regs->mask >> i & 1 &&
		    (!(prev->mask >> i & 1) || prev->values[i] != regs->values[i]))
			changed |= 1ULL << i;
	}
	writer_uleb(w, regs->mask ^ prev->mask);
	writer_uleb(w, changed);
	for (unsigned i = 0; i < ARCH_REGS_MAX; i++) {
		uint64_t value = regs->values[i];

		if (!(changed >> i & 1))
			continue;
		if (value == ip)
			writer_u8(w, REG_IP);
		else
			reg_put(values, w, value, prev->mask >> i & 1 ? prev->values[i] : 0,
				neighbour);
		neighbour = value;
	}
}

static uint64_t reg_get(struct value_decoder *values, struct reader *r, uint64_t self,
			uint64_t neighbour, uint64_t ip)
{
	uint64_t code = reader_uleb(r, "register");

	switch (code & 3) {
	case REG_VALUE:
		return value_get(values, r);
	case REG_SELF:
		return self + zigzag_decode(code >> 2);
	case REG_NEIGHBOUR:
		return neighbour + zigzag_decode(code >> 2);
	default:
		return ip;
	}
}

void regs_get(struct value_decoder *values, struct reader *r, const struct event_regs *prev,
	      uint64_t ip, struct event_regs *ret)
{
	uint64_t mask = reader_uleb(r, "register mask") ^ prev->mask;
	uint64_t changed = reader_uleb(r, "changed registers");
	uint64_t neighbour = 0;

	if (mask >> ARCH_REGS_MAX || changed & ~mask)
		reader_fail(r, "register mask");
	*ret = (struct event_regs){ .mask = mask };
	for (unsigned i = 0; i < ARCH_REGS_MAX && !r->failed; i++) {
		uint64_t self = prev->mask >> i & 1 ? prev->values[i] : 0;

		if (!(mask >> i & 1))
			continue;
		ret->values[i] = self;
		if (!(changed >> i & 1))
			continue;
		neighbour = reg_get(values, r, self, neighbour, ip);
		ret->values[i] = neighbour;
	}
}
