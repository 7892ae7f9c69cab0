#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# OpenTelemetry's own classes read preport's OTLP files, in both codings, and find the weight of every function in them.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
python3 -c 'from opentelemetry.proto.profiles.v1development import profiles_pb2' 2>/dev/null || skip "opentelemetry-proto is not installed for python3"

"$BUILD/tests/tools/write_trace" mix.trace <"$TOP/tests/data/report/mix.txt"
preport -i mix.trace export --to otlp -o mix.otlp 2>/dev/null
preport -i mix.trace export --to otlp-json -o mix.json 2>/dev/null
cat >leaves.py <<'CODE'
import sys
from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development import profiles_pb2 as pb
d = pb.ProfilesData()
if sys.argv[1] == "json": json_format.Parse(open(sys.argv[2]).read(), d)
else: d.ParseFromString(open(sys.argv[2], "rb").read())
x = d.dictionary
text = lambda n: x.string_table[n]
for table in (x.mapping_table, x.location_table, x.function_table, x.link_table, x.attribute_table, x.stack_table):
    assert table[0] == type(table[0])(), "entry 0 must be empty"
    assert len({e.SerializeToString(deterministic=True) for e in table}) == len(table), "entries are there twice"
assert text(0) == ""
p = d.resource_profiles[0].scope_profiles[0].profiles[0]
assert (text(p.sample_type.type_strindex), text(p.sample_type.unit_strindex)) == ("cpu-clock", "nanoseconds")
sums = {}
for s in p.samples:
    leaf = x.location_table[x.stack_table[s.stack_index].location_indices[0]]
    place = {text(x.attribute_table[a].key_strindex): x.attribute_table[a].value for a in s.attribute_indices}
    key = (text(x.function_table[leaf.lines[0].function_index].name_strindex), place["process.pid"].int_value, place["thread.name"].string_value)
    assert len(s.values) == len(s.timestamps_unix_nano)
    assert not s.timestamps_unix_nano or min(s.timestamps_unix_nano) >= p.time_unix_nano > 0
    sums[key] = sums.get(key, 0) + sum(s.values)
for (name, pid, thread), weight in sorted(sums.items()): print(name, pid, thread, weight, sep="\t")
CODE
cat >want <<'END'
hot	100	app	30000000
leaf	100	app	10000000
malloc	100	worker	20000000
std::vector<int, std::allocator<int> >::push_back(int&&)	200	other	40000000
END
python3 leaves.py proto mix.otlp >proto
python3 leaves.py json mix.json >json
cmp want proto || fail "the protobuf says: $(cat proto)"
cmp want json || fail "the JSON says: $(cat json)"
