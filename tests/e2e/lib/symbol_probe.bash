# SPDX-License-Identifier: Apache-2.0
# Build tests/tools/symbol_probe.c against $BUILD, in the working directory. Sourced, not run.
probe_sanitize=
[ -z "$SAN" ] || probe_sanitize="-fsanitize=$SAN"
# shellcheck disable=SC2046,SC2086
"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g $probe_sanitize -I"$TOP" -o symbol_probe \
	"$TOP/tests/tools/symbol_probe.c" "$BUILD/libsymbolize.a" "$BUILD/libformats.a" \
	$(pkg-config --libs libdw libelf capstone libzstd zlib liblzma) -liberty -lpthread -lm
