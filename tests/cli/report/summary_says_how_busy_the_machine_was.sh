#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A whole system: mostly idle, mostly busy, with losses; a part of it is not called the machine.
summary() { # summary SAMPLES [LINE] [OPTION...]
	printf 'event cpu-clock ns 100\ncpu 3\nprocess 7 server\nsample 0 7 7 3 10000000 %s main;work\n%s\nat 1\n' "$1" "${2-}" |
		"$BUILD/tests/tools/write_trace" precord.trace
	preport "${@:3}" | sed -n 's/^1 CPU .*/&/p'
}
summary 25
summary 97
summary 97 'lost 3 9'
summary 25 '' --comm server
