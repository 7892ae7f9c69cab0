/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usdt.c - calls step() five times with 0 to 4, each behind a marker demo:tick with that number in a register and the constant
 * -5, written by hand so that <sys/sdt.h> is not needed.
 */
__attribute__((noinline, noclone)) long step(long number)
{
	__asm__ volatile("" : "+r"(number));
	return number + 100;
}

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 5; i++) {
#if defined(__x86_64__)
		__asm__ volatile("990: nop\n"
				 ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"
				 ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
				 "993: .8byte 990b\n.8byte 0\n.8byte 0\n"
				 ".asciz \"demo\"\n.asciz \"tick\"\n.asciz \"8@%%rdi -4@$-5 8@(%%rsp)\"\n"
				 "994: .balign 4\n.popsection"
				 :
				 : "D"(i));
#endif
		sum += step(i);
	}
	return sum != 510;
}
