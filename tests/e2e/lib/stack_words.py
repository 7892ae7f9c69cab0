#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of samples, one by one, beside what the interpreter said itself at that time (tests/programs/words.*).

usage: stack_words.py WORDS JSON     (JSON: preport script --all --no-chain --format=json)

A sample is compared if it was taken within a section of its thread. It is equal if all functions are, in order, and all lines. Functions
in C have no lines. Some tenths of a microsecond of what puts a section down are in it, too: a sample with such a line or function is an edge.
What differs is printed, and then one line: compared, equal, edges, functions right, lines, lines right, frames, named, samples in sections,
those with a whole stack, torn, late, shares, shares inside 95 %, the worst in standard deviations.
The exit status is 1 if shares are further off than chance has it.
"""
import bisect
import collections
import json
import re
import sys

SHOWN = 10
HELPERS = {"section", "over", "now", "cpu", "native_id"}
SURE = 6        # standard deviations: once in a billion
MARGIN = 0.005  # of sections that a thread is switched off and on in


def read_words(path):
    stacks, sections = {}, collections.defaultdict(list)
    for line in open(path, errors="replace"):
        if line.startswith("STACK "):
            _, number, first, last, inner, frames = line.rstrip("\n").split(" ", 5)
            frames = [frame.rsplit(":", 1) for frame in frames.split(";")]
            stacks[int(number)] = (int(first), int(last), inner.split(","), [(name, int(at)) for name, at in frames])
        elif line.startswith("AT "):
            tid, begin, end, cpu, number = map(int, line.split()[1:])
            sections[tid].append((begin, end, cpu, number))
    for those in sections.values():
        those.sort()
    return stacks, sections


def section_at(sections, tid, time):
    those = sections.get(tid, ())
    i = bisect.bisect_right(those, (time, float("inf"))) - 1
    return those[i] if i >= 0 and those[i][0] < time < those[i][1] else None


def plain(name):
    """Ruby before 3.4, and CPython before 3.11, say no classes."""
    return re.sub(r"(?<![a-z])[A-Z]\w*(?:::[A-Z]\w*)*[#.](?=[^.#]+$)", "", name)


def same_name(ours, word):
    return ours == word or plain(ours) == word


def same_line(ours, word, before):
    """A function in C has none; Ruby says that of its caller."""
    return ours == word or (not ours and word == before)


def leave_out(ours, depth, inner):
    """Without what the section calls in C; is the rest of what puts the section down?"""
    extra = [plain(name) for name, _ in ours[depth:]]
    if len(extra) == 1 and extra[0] in inner and not ours[-1][1]:
        return ours[:depth], False
    if extra and extra[0] in HELPERS:
        return ours[:depth], True
    return ours, False


def compare(ours, stack):
    """Same functions?, lines that are right, an edge?"""
    first, last, inner, word = stack
    ours, edge = leave_out(ours, len(word), inner)
    if len(ours) != len(word) or not all(same_name(a[0], b[0]) for a, b in zip(ours, word)):
        return False, 0, False
    before = [0] + [line for _, line in word]
    right = sum(same_line(a[1], b[1], at) for a, b, at in zip(ours, word, before))
    if ours[-1][1] != word[-1][1] and ours[-1][1] in (first, last):
        right, edge = right + 1, True
    return True, right, edge


def shares(stacks, sections, hits):
    """How many there are, how many inside their interval, the worst in standard deviations, and whether all is well."""
    spent, seen = collections.Counter(), collections.Counter()
    for those in sections.values():
        for _, _, cpu, number in those:
            spent[stacks[number][3][-1]] += cpu
    for number, count in hits.items():
        seen[stacks[number][3][-1]] += count
    whole, n = sum(spent.values()), sum(seen.values())
    inside, worst, well = 0, 0, True
    for place, ns in spent.items():
        p = ns / whole
        sigma = max((p * (1 - p) / max(n, 1)) ** 0.5, 1e-9)
        off = abs(seen[place] / max(n, 1) - p)
        inside += off < 1.96 * sigma
        worst = max(worst, off / sigma)
        if off > SURE * sigma + MARGIN:
            print("share of %s:%d: %.4f instead of %.4f of %d" % (*place, seen[place] / n, p, n))
            well = False
    return len(spent), inside, worst, well


def main():
    stacks, sections = read_words(sys.argv[1])
    count, hits, samples, whole = collections.Counter(), collections.Counter(), {}, {}
    for line in open(sys.argv[2], errors="replace"):
        if not line.startswith(('{"kind": "managed"', '{"kind": "sample"')):
            continue
        event = json.loads(line)
        if event["kind"] == "managed":
            time = event["time_ns"] + 1
            whole[event["tid"], time] = event
            count["torn"] += event["state"] == "torn"
            count["late"] += event["state"] == "late"
        else:
            samples[event["tid"], event["time_ns"]] = section_at(sections, event["tid"], event["time_ns"])
    for place, section in samples.items():
        if not section:
            continue
        number = section[3]
        hits[number] += 1
        event = whole.get(place)
        count["in"] += 1
        if not event or event["state"] != "whole":
            continue
        count["read"] += 1
        word = stacks[number][3]
        ours = [(frame.get("function", "").replace(" ", "_"), frame.get("line", 0)) for frame in reversed(event["frames"])]
        functions, right, edge = compare(ours, stacks[number])
        count["compared"] += 1
        count["frames"] += len(ours)
        count["named"] += sum(bool(name) and not name.startswith("[") for name, _ in ours)
        if functions:
            count["functions"] += 1
            count["lines"] += len(word)
            count["right"] += right
        equal = functions and right == len(word)
        count["equal"] += equal
        count["edges"] += equal and edge
        if not equal:
            count["shown"] += 1
            if count["shown"] <= SHOWN:
                print("ours %s\nword %s" % (";".join("%s:%d" % f for f in ours), ";".join("%s:%d" % f for f in word)))
    all_shares, inside, worst, well = shares(stacks, sections, hits)
    print(*(count[name] for name in ("compared", "equal", "edges", "functions", "lines", "right", "frames", "named", "in", "read", "torn", "late")),
          all_shares, inside, "%.1f" % worst)
    sys.exit(not well)


main()
