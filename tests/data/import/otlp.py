# SPDX-License-Identifier: Apache-2.0
# Fixtures of OpenTelemetry's own protobuf classes: python3 otlp.py OUT.pb OUT.json
import sys
from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development import profiles_pb2 as pb
d = pb.ProfilesData(); x = d.dictionary; S = [""]; x.string_table.append("")
def s(t):
    if t not in S: S.append(t); x.string_table.append(t)
    return S.index(t)
def attr(k, **v):
    a = x.attribute_table.add(); a.key_strindex = s(k)
    for n, val in v.items(): setattr(a.value, n, val)
    return len(x.attribute_table) - 1
x.attribute_table.add(); x.mapping_table.add(); x.location_table.add(); x.function_table.add(); x.stack_table.add(); x.link_table.add()
bid = attr("process.executable.build_id.gnu", string_value="abcdef0123"); kern = attr("profile.frame.type", string_value="kernel")
tid = attr("thread.id", int_value=4712); tn = attr("thread.name", string_value="worker"); route = attr("http.route", string_value="/cart")
m = x.mapping_table.add(); m.filename_strindex = s("/bin/app"); m.attribute_indices.append(bid)
for n, f, l in (("work", "a.c", 10), ("inner", "a.c", 20), ("main", "m.c", 30), ("sys_read", "", 0)):
    q = x.function_table.add(); q.name_strindex = s(n); q.filename_strindex = s(f); q.start_line = l
def loc(addr, lines, mapping=1, a=None):
    q = x.location_table.add(); q.mapping_index = mapping; q.address = addr
    for fn, ln in lines: i = q.lines.add(); i.function_index = fn; i.line = ln
    if a: q.attribute_indices.append(a)
    return len(x.location_table) - 1
work, mid, unnamed, kread = loc(0x1010, [(1, 11)]), loc(0x1020, [(2, 21), (3, 31)]), loc(0x1030, []), loc(0xffff, [(4, 0)], 0, kern)
def stack(*l): q = x.stack_table.add(); q.location_indices.extend(l); return len(x.stack_table) - 1
a, b, c = stack(work, mid), stack(kread, work, mid), stack(unnamed)
rp = d.resource_profiles.add(); k = rp.resource.attributes.add(); k.key = "process.pid"; k.value.int_value = 4711
k = rp.resource.attributes.add(); k.key = "process.executable.name"; k.value.string_value = "app"
sp = rp.scope_profiles.add(); p = sp.profiles.add()
T = 1790000000000000000; p.time_unix_nano = T; p.duration_nano = 2000000000
p.sample_type.type_strindex = s("samples"); p.sample_type.unit_strindex = s("count")
q = p.samples.add(); q.stack_index = a; q.attribute_indices.extend([tid, tn]); q.timestamps_unix_nano.extend([T + 5, T + 10, T + 900])
q = p.samples.add(); q.stack_index = b; q.attribute_indices.extend([tid, tn, route]); q.timestamps_unix_nano.extend([T + 20])
p = sp.profiles.add(); p.sample_type.type_strindex = s("cpu"); p.sample_type.unit_strindex = s("nanoseconds"); p.period_type.CopyFrom(p.sample_type); p.period = 10000000
p.time_unix_nano = T; p.duration_nano = 2000000000
q = p.samples.add(); q.stack_index = c; q.values.append(70000000)
open(sys.argv[1], "wb").write(d.SerializeToString()); open(sys.argv[2], "w").write(json_format.MessageToJson(d, indent=None))
