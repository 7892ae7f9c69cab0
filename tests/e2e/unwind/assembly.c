/* SPDX-License-Identifier: Apache-2.0 */
/* assembly.c - stops with SIGTRAP, then hashes a text by libcrypto's hand-written assembly, to be single-stepped. */
#include <signal.h>
#include <stddef.h>

/* As in <openssl/sha.h> and <openssl/md5.h>, without the package that has them. */
int SHA256_Init(void *state);
int SHA256_Update(void *state, const void *text, size_t len);
int SHA512_Init(void *state);
int SHA512_Update(void *state, const void *text, size_t len);
int MD5_Init(void *state);
int MD5_Update(void *state, const void *text, size_t len);

int main(void)
{
	static const unsigned char text[300];
	static _Alignas(16) unsigned char state[1024];

	raise(SIGTRAP);
	MD5_Init(state);
	MD5_Update(state, text, sizeof(text));
	SHA256_Init(state);
	SHA256_Update(state, text, sizeof(text));
	SHA512_Init(state);
	SHA512_Update(state, text, sizeof(text));
	return state[0];
}
