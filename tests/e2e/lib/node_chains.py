# SPDX-License-Identifier: Apache-2.0
"""What "preport script" says of tests/programs/node_chains.js, on standard input, beside what the program's text says.

Usage: node_chains.py NODE_CHAINS_JS
Prints how many stacks there were, how many had the right functions, how many lines were looked at and right, how many functions the stacks
led through and how many of them have no name, and what was wrong.
"""
import collections
import re
import sys

RESUMED = ['run']
CALLERS = {
    'busyPlain': ['all'], 'busyDeep': ['deep'] * 8 + ['all'], 'busyMap': ['mapped', 'all'],
    'busySort': ['compare', 'all'], 'busyReplace': ['replacer', 'all'], 'busyGen': ['generator', 'all'],
    'busyCatch': ['catcher', 'all'], 'busyClosure': ['closure', 'all'], 'busyGetter': ['get area', 'all'],
    'busyNew': ['Shape', 'all'], 'busyApply': ['busyApplied', 'all'], 'busyJson': ['toJSON', 'all'],
    'busyAsync': ['later'], 'busyCalls': ['all'], 'tiny': ['busyCalls', 'all'],
}
FRAME = re.compile(r'\s+(?:[0-9a-f]+ )?(.*?)(?: \(([^()]*|inlined|\[.*?\])\))?(?: (\S+):(\d+))?(?: \[.*\])?$')


def lines_with(text, pattern):
    return {number for number, line in enumerate(text, 1) if re.search(pattern, line)}


def frames_of(block):
    for line in block.split('\n')[1:]:
        match = FRAME.match(line)
        if match:
            yield match[1], match[2] or '', match[3] or '', int(match[4] or 0)


def is_script(frame):
    name, module, file, _ = frame
    return (file.endswith('.js') or '[jit' in module) and not file.startswith('node:') and name != '(module)'


def is_nameless(frame):
    """Code, or the interpreter's frame, whose function is not known."""
    name, module, _, _ = frame
    return name.startswith('[jit') or '[jit' in module and not name or name == 'Builtins_InterpreterEntryTrampoline'


def main():
    text = open(sys.argv[1]).read().split('\n')
    body = {name: lines_with(text, r'function %s\(' % name) for name in CALLERS}
    calls = {name: lines_with(text, r'\b%s(\(|\.apply)' % name) - body[name] for name in CALLERS}
    calls['deep'] = lines_with(text, '// recurse')
    count, wrong = collections.Counter(), collections.Counter()
    blocks = sys.stdin.read().split('\n\n')
    # At first the recorder reads the program's file, which may take long among others: what was freed meanwhile has no name.
    for block in blocks[len(blocks) // 4:]:
        all_frames = list(frames_of(block))
        frames = [frame for frame in all_frames if is_script(frame)]
        count['functions'] += len(frames)
        for frame in all_frames[1:]:
            if is_nameless(frame):
                count['nameless'] += 1
                wrong['without a name: ' + frame[0]] += 1
        if not frames or frames[0][0] not in CALLERS:
            continue
        leaf = frames[0][0]
        want = CALLERS[leaf] + (RESUMED if leaf != 'busyAsync' else [])
        got = [frame[0] for frame in frames[1:]]
        count['stacks'] += 1
        if got != want:
            wrong[leaf + ' < ' + ' < '.join(got)] += 1
            continue
        count['whole'] += 1
        for index, (name, _, _, line) in enumerate(frames[:len(CALLERS[leaf])]):
            right = body[leaf] if index == 0 else calls[leaf] if index == 1 else calls[name] if name == 'deep' else None
            if right is None:
                continue
            count['lines'] += 1
            count['right'] += line in right
            if line not in right:
                wrong['%s at line %d below %s' % (name, line, leaf)] += 1
    print(*(count[what] for what in ('stacks', 'whole', 'lines', 'right', 'functions', 'nameless')))
    for what, times in wrong.most_common(10):
        print(times, what)


main()
