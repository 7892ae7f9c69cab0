# SPDX-License-Identifier: Apache-2.0
# Fixture of Perfetto's own protobuf classes (pip install perfetto): python3 perfetto.py OUT
import sys
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
t = pb.Trace()
def packet(**fields): return t.packet.add(trusted_packet_sequence_id=7, **fields)
def text(table, iid, s): table.add(iid=iid, str=s if isinstance(s, bytes) else s.encode())
p = packet(); p.clock_snapshot.clocks.add(clock_id=6, timestamp=1000000000)
p = packet(sequence_flags=1) # the state is cleared
base = p.trace_packet_defaults.perf_sample_defaults.timebase
base.frequency = 100; base.counter = pb.PerfEvents.SW_CPU_CLOCK
p = packet(timestamp=2000000000); d = p.interned_data
text(d.build_ids, 1, bytes.fromhex("abcdef01234567ff")); text(d.mapping_paths, 1, "bin"); text(d.mapping_paths, 2, "app"); text(d.mapping_paths, 3, "[kernel.kallsyms]")
text(d.function_names, 1, "leaf"); text(d.function_names, 2, "main"); text(d.function_names, 3, "sys_read"); text(d.function_names, 4, "inlined")
text(d.source_paths, 1, "/src/a.c")
m = d.mappings.add(iid=1, build_id=1); m.path_string_ids.extend([1, 2])
m = d.mappings.add(iid=2); m.path_string_ids.append(3)
d.frames.add(iid=1, function_name_id=1, mapping_id=1, rel_pc=0x1010, source_path_iid=1, line_number=7)
d.frames.add(iid=2, function_name_id=2, mapping_id=1, rel_pc=0x1020)
d.frames.add(iid=3, function_name_id=3, mapping_id=2, rel_pc=0xff)
d.frames.add(iid=4, mapping_id=1, rel_pc=0x1099)
d.frames.add(iid=5, function_name_id=4, mapping_id=1, rel_pc=0x1020)
for iid, frames in ((1, [2, 1]), (2, [2, 5, 1, 3]), (3, [4])): d.callstacks.add(iid=iid).frame_ids.extend(frames)
def sample(time, tid, stack, **more):
    p = packet(timestamp=time); s = p.perf_sample
    s.cpu = 1; s.pid = 4711; s.tid = tid; s.callstack_iid = stack
    for k, v in more.items(): setattr(s, k, v)
sample(2000000000, 4712, 1); sample(2010000000, 4712, 1); sample(2020000000, 4711, 2); sample(2030000000, 4712, 3); sample(2040000000, 4712, 9)
packet(timestamp=2050000000).perf_sample.kernel_records_lost = 3
sample(2060000000, 4712, 0, sample_skipped_reason=2)
p = packet(timestamp=2070000000, sequence_flags=1) # numbers mean other things from here on
d = p.interned_data; text(d.function_names, 1, "late"); d.frames.add(iid=1, function_name_id=1); d.callstacks.add(iid=1).frame_ids.append(1)
p.trace_packet_defaults.perf_sample_defaults.timebase.CopyFrom(base)
sample(2080000000, 4712, 1)
p = packet(); p.process_tree.processes.add(pid=4711, ppid=1, cmdline=["/bin/app", "-x"])
p.process_tree.threads.add(tid=4712, tgid=4711, name="worker"); p.process_tree.threads.add(tid=4711, tgid=4711, name="app")
open(sys.argv[1], "wb").write(t.SerializeToString())
