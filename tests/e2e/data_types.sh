#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --by data-type and data-field name the struct and the member that instructions access, from debug information alone; what
# cannot be told has rows of its own, so that the shares add up.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
$CC -O2 -g -fno-tree-vectorize -o walk "$TOP/tests/programs/walk_lists.c"
precord -q -e cpu-clock -F 1000 -o t.trace -- ./walk 1000 >out

preport -i t.trace --by data-field --module walk --format=csv --limit 0 >fields 2>said
grep -q 'the type is known for [1-9]' said || { cat said; fail 'how much could be told is not said'; }
preport -i t.trace --by data-type --module walk --format=csv --limit 0 >types 2>/dev/null
# Two structs, and the members that the loops read.
awk -F, 'NR > 1 && /struct/ && !/struct (order|cell)/' types | grep . && fail 'a type that the program does not access'
head -n 2 types | grep -q 'struct order' || { cat types; fail 'the list is not the first row'; }
grep -q 'struct order,next\|"struct order",next\|struct order,price' fields || { cat fields; fail 'no member of the list'; }
# All samples are in some row.
all=$(preport -i t.trace info | sed -n 's/^Samples: *\([0-9,]*\).*/\1/p' | tr -d ,)
preport -i t.trace --by data-field --format=json --limit 0 2>/dev/null >json
python3 - json "${all:-0}" <<'CODE'
import json, sys
rows = json.load(open(sys.argv[1]))
def samples(node):
    if isinstance(node, dict):
        if "data_type" in node:
            return node["samples"]
        node = list(node.values())
    return sum(map(samples, node)) if isinstance(node, list) else 0
total = samples(rows)
assert total > 100, total
assert int(sys.argv[2]) in (0, total), (total, sys.argv[2])
CODE

# Without debug information there is one sentence, not a table of nothing.
strip -o bare walk
precord -q -e cpu-clock -F 1000 -o bare.trace -- ./bare 200 >out
rm bare
preport -i bare.trace --by data-type --symfs "$PWD" >out 2>said && [ ! -s said ] && fail 'no word about missing debug information'

# Without a recording: what each instruction of a function accesses, against what the source says.
"$BUILD/tests/tools/type_probe" walk sum_orders | cut -f 3,4 | sort -u >told
printf 'struct order\tnext\nstruct order\tprice\n' | diff - told || fail 'sum_orders reads next and price'
"$BUILD/tests/tools/type_probe" walk sum_cells >told 2>told.err || "$BUILD/tests/tools/type_probe" walk sum_cells.constprop.0 >told
cut -f 3,4 told | sort -u | diff - <(printf 'struct cell\tcolour\nstruct cell\theight\n') || fail 'sum_cells reads colour and height'
