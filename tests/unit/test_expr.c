/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/unwind/expr.h"

#define REG0   0x1000
#define MEMORY 0x2000

/* Registers 0 and 1 are known; memory holds its own address, times 3, from 0x2000 to 0x2100. */
static bool read_reg(void *data, uint64_t reg, uint64_t *ret)
{
	(void)data;
	*ret = REG0 + reg;
	return reg < 2;
}

static bool read_word(void *data, uint64_t address, uint64_t *ret)
{
	(void)data;
	*ret = address * 3;
	return address >= MEMORY && address < MEMORY + 0x100;
}

static const struct expr_context context = { read_reg, read_word, NULL };

static enum expr_status eval(const char *bytes, size_t len, struct expr_start start, uint64_t *ret)
{
	return expr_eval(guarded(bytes, len), len, &context, start, ret);
}

#define CODE(bytes) (bytes), sizeof(bytes) - 1

TEST(expr_computes)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint64_t value;
	} cases[] = {
		{ CODE("\x30"), 0 },                                    /* lit0 */
		{ CODE("\x4f"), 31 },                                   /* lit31 */
		{ CODE("\x08\xff"), 255 },                              /* const1u */
		{ CODE("\x09\xff"), -1ULL },                            /* const1s */
		{ CODE("\x0a\xfe\xff"), 0xfffe },                       /* const2u */
		{ CODE("\x0b\xfe\xff"), -2ULL },                        /* const2s */
		{ CODE("\x0c\xfd\xff\xff\xff"), 0xfffffffd },           /* const4u */
		{ CODE("\x0d\xfd\xff\xff\xff"), -3ULL },                /* const4s */
		{ CODE("\x0e\1\2\3\4\5\6\7\x88"), 0x8807060504030201 }, /* const8u */
		{ CODE("\x0f\1\2\3\4\5\6\7\x88"), 0x8807060504030201 }, /* const8s */
		{ CODE("\x10\x80\x01"), 128 },                          /* constu */
		{ CODE("\x11\x7f"), -1ULL },                            /* consts */
		{ CODE("\x35\x12\x1e"), 25 },                           /* lit5 dup mul */
		{ CODE("\x35\x36\x13"), 5 },                            /* lit5 lit6 drop */
		{ CODE("\x35\x36\x14\x1c"), 1 },                        /* 5 6 over: 6 - 5 */
		{ CODE("\x35\x36\x37\x15\x02"), 5 },                    /* 5 6 7 pick 2 */
		{ CODE("\x35\x36\x16\x1c"), 1 },                        /* 5 6 swap minus: 6 - 5 */
		{ CODE("\x31\x32\x34\x17\x1c\x1c"), 5 }, /* 1 2 4 rot: 4 1 2; 1 - 2; 4 - -1 */
		{ CODE("\x11\x7b\x19"), 5 },             /* -5 abs */
		{ CODE("\x3c\x3a\x1a"), 8 },             /* 12 and 10 */
		{ CODE("\x11\x77\x32\x1b"), -4ULL },     /* -9 / 2 */
		{ CODE("\x39\x34\x1d"), 1 },             /* 9 mod 4 */
		{ CODE("\x35\x1f"), -5ULL },             /* neg */
		{ CODE("\x35\x20"), ~5ULL },             /* not */
		{ CODE("\x3c\x3a\x21"), 14 },            /* or */
		{ CODE("\x35\x36\x22"), 11 },            /* plus */
		{ CODE("\x35\x23\x80\x01"), 133 },       /* plus_uconst 128 */
		{ CODE("\x31\x34\x24"), 16 },            /* 1 shl 4 */
		{ CODE("\x31\x08\x40\x24"), 0 },         /* 1 shl 64 */
		{ CODE("\x11\x70\x34\x25"), 0x0fffffffffffffff }, /* -16 shr 4 */
		{ CODE("\x11\x70\x34\x26"), -1ULL },              /* -16 shra 4 */
		{ CODE("\x11\x70\x08\x40\x26"), -1ULL },          /* -16 shra 64 */
		{ CODE("\x3c\x3a\x27"), 6 },                      /* xor */
		{ CODE("\x35\x35\x29"), 1 },                      /* eq */
		{ CODE("\x11\x7f\x35\x2a"), 0 },                  /* -1 ge 5 */
		{ CODE("\x36\x35\x2b"), 1 },                      /* 6 gt 5 */
		{ CODE("\x11\x7f\x35\x2c"), 1 },                  /* -1 le 5 */
		{ CODE("\x35\x35\x2d"), 0 },                      /* 5 lt 5 */
		{ CODE("\x35\x36\x2e"), 1 },                      /* ne */
		{ CODE("\x35\x2f\x01\x00\x36\x96"), 5 },          /* 5 skip over lit6, nop */
		{ CODE("\x35\x31\x28\x01\x00\x36"), 5 },          /* 5; 1 bra: taken */
		{ CODE("\x35\x30\x28\x01\x00\x36"), 6 },          /* 5; 0 bra: not taken */
		{ CODE("\x70\x08"), REG0 + 8 },                   /* breg0 + 8 */
		{ CODE("\x71\x78"), REG0 + 1 - 8 },               /* breg1 - 8 */
		{ CODE("\x92\x01\x04"), REG0 + 1 + 4 },           /* bregx 1 + 4 */
		{ CODE("\x0a\x10\x20\x06"), 0x2010 * 3 },         /* deref */
		{ CODE("\x0a\x10\x20\x94\x01"), 0x30 },           /* deref_size 1 */
		{ CODE("\x0a\x10\x20\x94\x08"), 0x2010 * 3 },     /* deref_size 8 */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t value = 42;

		CHECK_UINT(eval(cases[i].bytes, cases[i].len, (struct expr_start){ 0 }, &value),
			   EXPR_OK);
		CHECK_UINT(value, cases[i].value);
	}
}

/* "CFA = rsp + 8 + ((rip & 15) >= 11) * 8", which linkers write for PLTs, with register 0 for both. */
TEST(expr_computes_the_cfa_of_a_plt_slot)
{
	uint64_t value = 0;

	CHECK_UINT(eval(CODE("\x70\x08\x70\x0b\x3f\x1a\x3b\x2a\x33\x24\x22"),
			(struct expr_start){ 0 }, &value),
		   EXPR_OK);
	CHECK_UINT(value, REG0 + 16);
}

TEST(expr_starts_with_the_cfa_where_there_is_one)
{
	uint64_t value = 0;

	CHECK_UINT(eval(CODE("\x23\x08"), (struct expr_start){ true, 0x5000 }, &value), EXPR_OK);
	CHECK_UINT(value, 0x5008);
	CHECK_UINT(eval("", 0, (struct expr_start){ true, 0x5000 }, &value), EXPR_OK);
	CHECK_UINT(value, 0x5000);
}

TEST(expr_says_why_it_has_no_value)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum expr_status status;
	} cases[] = {
		{ CODE(""), EXPR_MALFORMED },                     /* nothing on the stack */
		{ CODE("\x13"), EXPR_MALFORMED },                 /* drop of nothing */
		{ CODE("\x35\x22"), EXPR_MALFORMED },             /* plus of one */
		{ CODE("\x35\x15\x01"), EXPR_MALFORMED },         /* pick below the bottom */
		{ CODE("\x35\x30\x1b"), EXPR_MALFORMED },         /* division by 0 */
		{ CODE("\x35\x30\x1d"), EXPR_MALFORMED },         /* modulo 0 */
		{ CODE("\x08"), EXPR_MALFORMED },                 /* ends in an operand */
		{ CODE("\x2f\xfd\xff"), EXPR_MALFORMED },         /* a loop */
		{ CODE("\x30\x2f\xfc\xff"), EXPR_MALFORMED },     /* a loop that fills the stack */
		{ CODE("\x35\x2f\x01\x00"), EXPR_MALFORMED },     /* a jump past the end */
		{ CODE("\x35\x2f\xf0\xff"), EXPR_MALFORMED },     /* a jump before the beginning */
		{ CODE("\x03\0\0\0\0\0\0\0\0"), EXPR_MALFORMED }, /* addr */
		{ CODE("\x9c"), EXPR_MALFORMED },                 /* call_frame_cfa */
		{ CODE("\xff"), EXPR_MALFORMED },
		{ CODE("\x0a\x10\x20\x94\x09"), EXPR_MALFORMED }, /* deref_size 9 */
		{ CODE("\x72\x00"), EXPR_NO_REGISTER },           /* breg2 */
		{ CODE("\x92\x80\x80\x80\x80\x10\x00"), EXPR_NO_REGISTER },
		{ CODE("\x30\x06"), EXPR_NO_MEMORY }, /* 0 deref */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t value = 42;

		CHECK_UINT(eval(cases[i].bytes, cases[i].len, (struct expr_start){ 0 }, &value),
			   cases[i].status);
		CHECK_UINT(value, 42); /* untouched */
	}
}
