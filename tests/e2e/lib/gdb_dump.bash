# SPDX-License-Identifier: Apache-2.0
# What gdb sees of an aarch64 program under QEMU, in the form that unwind_probe --dump takes.
# Sourced, not run.

# To be put into the program's environment: gdb_dump reads 32 KiB from the stack pointer on, which
# must be there.
gdb_dump_padding=$(printf '%040000d' 0)

# map_of FILE ADDRESS-OF-.text: the executable segment of FILE as a line of /proc/PID/maps.
map_of() {
	local readelf=aarch64-linux-gnu-readelf text bias start offset len
	text=$($readelf -SW "$1" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) .*/\1/p')
	bias=$(($2 - 0x$text))
	$readelf -lW "$1" | awk '$1 == "LOAD" && $7 $8 ~ /E/ { print $2, $3, $5 }' |
		while read -r offset start len; do
			printf '%x-%x r-xp %x 00:00 1 %s\n' $((bias + (start & ~0xfff))) \
				$((bias + ((start + len + 0xfff) & ~0xfff))) $((offset & ~0xfff)) "$1"
		done
}

# gdb_dump ROOT PROGRAM GDB-ARGUMENT...: what gdb, brought to the right moment by the arguments,
# sees of PROGRAM with the libraries below ROOT: ./chain (its own), ./regs, ./stack and ./maps.
# False if it sees nothing; gdb.log has why.
gdb_dump() {
	local root=$1 program=$2 address file line='\(0x[0-9a-f]*\) - 0x[0-9a-f]* is \.text'
	shift 2
	rm -f stack
	timeout 120 gdb-multiarch -q -nx -batch -iex 'set debug-file-directory /nonexistent' \
		-ex "set sysroot $root" -ex "file $program" "$@" -ex 'set backtrace past-main on' \
		-ex 'echo \nCHAIN\n' -ex 'frame apply 1024 -q printf "0x%016lx\n", (unsigned long)$pc' \
		-ex 'echo \nFILES\n' -ex 'info files' \
		-ex "dump binary memory stack \$sp \$sp+32768" \
		-ex 'printf "\nREGS\n"' -ex "info registers $(printf 'x%d ' {0..30})sp pc" \
		-ex kill >gdb.log 2>&1 || :
	sed -n '/^CHAIN/,/^FILES/s/^0x/0x/p' gdb.log >chain
	sed -n '/^REGS/,$s/^\(x[0-9]*\|sp\|pc\) *\(0x[0-9a-f]*\).*/\2/p' gdb.log >regs
	map_of "$PWD/$program" "$(sed -n "s/^\t$line\$/\1/p" gdb.log | head -n 1)" >maps
	sed -n "s/^\t$line in \(.*\)\$/\1 \2/p" gdb.log | while read -r address file; do
		map_of "$file" "$address"
	done >>maps
	[ -s chain ] && [ -s stack ] && [ "$(wc -l <regs)" = 33 ]
}
