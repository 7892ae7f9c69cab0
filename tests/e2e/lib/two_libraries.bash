# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of files that are hard to read. Sourced, not run.

# libone.so, libtwo.so and main, whose time passes in spin_one() and spin_two(), one of each library. What is given is for the linker.
build_two_libraries() {
	local name
	cat >spin.c <<'END'
void SPIN(void);
void SPIN(void)
{
	for (volatile long i = 0; i < 20000000; i++)
		;
}
END
	cat >main.c <<'END'
void spin_one(void);
void spin_two(void);
int main(void)
{
	for (int i = 0; i < 8; i++) {
		spin_one();
		spin_two();
	}
	return 0;
}
END
	for name in one two; do
		$CC -O1 -g -fPIC -shared -Wl,-soname,lib$name.so -DSPIN=spin_$name -o lib$name.so spin.c || fail "cannot compile"
	done
	$CC -O1 -g -o main main.c ./libone.so ./libtwo.so "$@" || fail "cannot compile"
}
