# SPDX-License-Identifier: Apache-2.0
# agct.py TRUTH SCRIPT: compare what HotSpot itself said at each tick (tests/programs/agct.c) with the sample of that tick, frame by frame.
# SCRIPT is `preport script --format=json` of a recording of signal:signal_deliver. Prints what differs by kind; the last line is
#   compared equal explained callers caller_lines leaves leaf_lines rooted all frames named
import collections
import json
import re
import sys

SHOWN = 3
WINDOW_NS = 20_000_000  # from the event to the handler, on a busy machine


def plain(name):
    """Classes without a name of their own have an address in it: org.Some$$Lambda.0x00007f12a8002000.get"""
    return re.sub(r"[./+]0x[0-9a-f]+", "", name.replace("/", "."))


def read_truth(path):
    ticks = collections.defaultdict(list)
    for line in open(path, errors="replace"):
        time, tid, count, *frames = line.split()
        frames = [frame.rpartition(":") for frame in frames]
        ticks[int(tid)].append((int(time), int(count), [(plain(name), int(at)) for name, _, at in frames]))
    return ticks


def is_java(frame):
    return frame["module"].startswith("[jit") and "." in frame.get("function", "") and not frame["function"].startswith("[")


def is_unnamed(frame):
    return frame["module"].startswith("[jit") and frame.get("function", "[").startswith("[")


def read_samples(path):
    samples = collections.defaultdict(list)
    for line in open(path, errors="replace"):
        event = json.loads(line)
        if event["kind"] == "sample":
            samples[event["tid"]].append(event)
    return samples


def kind_of(truth, ours, sample):
    """Why two chains differ, innermost first."""
    names, found = [name for name, _ in truth], [name for name, _ in ours]
    if sample["stop"] != "complete":
        return "broken: " + sample["stop"]
    if any(is_unnamed(frame) for frame in sample["frames"]):
        return "a frame without a name"
    if found[1:] == names and found:
        return "explained: a method is being entered, which the machine leaves out"
    if len(found) > len(names) and found[len(found) - len(names):] == names:
        return "more frames innermost"
    if len(names) > len(found) and names[len(names) - len(found):] == found:
        return "fewer frames innermost"
    if len(names) > len(found):
        return "fewer frames"
    return "other names" if len(names) == len(found) else "more frames"


kinds, shown, unanswered = collections.Counter(), collections.Counter(), collections.Counter()
total = collections.Counter()
truth, samples = read_truth(sys.argv[1]), read_samples(sys.argv[2])
for tid, ticks in truth.items():
    ticks.sort()
    events, at = sorted(samples.get(tid, []), key=lambda event: event["time_ns"]), 0
    for time, count, chain in ticks:
        # The last event before the handler looked at the clock.
        while at + 1 < len(events) and events[at + 1]["time_ns"] <= time:
            at += 1
        if at >= len(events) or not 0 <= time - events[at]["time_ns"] < WINDOW_NS:
            total["alone"] += 1
            continue
        sample = events[at]
        total["all"] += 1
        total["rooted"] += sample["stop"] == "complete"
        java = [frame for frame in sample["frames"] if frame["module"].startswith("[jit")]
        total["jit"] += len(java)
        total["named"] += sum(not is_unnamed(frame) for frame in java)
        if count <= 0:
            unanswered[count] += 1
            continue
        ours = [(plain(frame["function"].split("(")[0]), frame.get("line", 0)) for frame in sample["frames"] if is_java(frame)]
        total["compared"] += 1
        if [name for name, _ in ours] != [name for name, _ in chain]:
            kind = kind_of(chain, ours, sample)
            kinds[kind] += 1
            total["explained"] += kind.startswith("explained")
            shown[kind] += 1
            if shown[kind] <= SHOWN:
                print(kind, "at", sample["time_ns"], tid, "leaf", sample["frames"][0].get("function"), "in", sample["frames"][0]["module"])
                # From the outermost frame on, up to the first that differs.
                same = next((i for i, (a, b) in enumerate(zip(chain[::-1], ours[::-1])) if a[0] != b[0]), min(len(chain), len(ours)))
                for who, frames in ("machine", chain), ("precord", ours):
                    at_first = len(frames) - same
                    print(f"  {who} {len(frames)}:", *(f"{name}:{line}" for name, line in frames[max(at_first - 3, 0):at_first + 1]))
            continue
        total["equal"] += 1
        if chain[0][1]:
            total["leaves"] += 1
            total["leaf_lines"] += ours[0][1] == chain[0][1]
        lines = [(a[1], b[1]) for a, b in zip(ours[1:], chain[1:]) if b[1]]
        total["callers"] += len(lines)
        total["caller_lines"] += sum(a == b for a, b in lines)
for kind, count in kinds.most_common():
    print(f"{count:6} {kind}")
print("the machine did not answer:", dict(unanswered), "ticks without an event:", total["alone"])
print(*(total[key] for key in ("compared", "equal", "explained", "callers", "caller_lines", "leaves", "leaf_lines", "rooted", "all",
                               "jit", "named")))
