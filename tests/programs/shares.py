# SPDX-License-Identifier: Apache-2.0
"""Burns CPU time in functions and lines by turns, and says how much each had: "NAME LINE NS", LINE 0 for all of it.

Recursion, a closure, a generator, a method called back from C, an exception, and with "threads" a second thread.
"""
import sys
import threading
import time

try:
    clock = time.thread_time_ns
except AttributeError:  # Python 3.6
    import os
    def clock():
        return int(time.clock_gettime(3) * 1e9)

spent = {}


def tell(name, line, ns):
    spent[name, line] = spent.get((name, line), 0) + ns


def two_lines(ns):
    begin = clock()
    while clock() - begin < ns:
        for i in range(400): pass  # LINE A
    middle = clock()
    while clock() - middle < 2 * ns:
        for i in range(400): pass  # LINE B
    end = clock()
    tell("two_lines", 0, end - begin)
    tell("two_lines", "A", middle - begin)
    tell("two_lines", "B", end - middle)


def recursive(depth, ns):
    if depth:
        return recursive(depth - 1, ns)
    begin = clock()
    while clock() - begin < ns:
        for i in range(400): pass
    tell("recursive", 0, clock() - begin)


def make_closure():
    def closure(ns):
        begin = clock()
        while clock() - begin < ns:
            for i in range(400): pass
        tell("closure", 0, clock() - begin)
    return closure


def generator(ns):
    begin = clock()
    while clock() - begin < ns:
        for i in range(400): pass
    tell("generator", 0, clock() - begin)
    yield 1


class Item:
    def __init__(self, ns):
        self.ns = ns

    def __lt__(self, other):
        begin = clock()
        while clock() - begin < self.ns:
            for i in range(400): pass
        tell("__lt__", 0, clock() - begin)
        return False


def called_back(ns):
    sorted([Item(ns), Item(ns)])


def raises(ns):
    try:
        inner_raise(ns)
    except ValueError:
        pass


def inner_raise(ns):
    begin = clock()
    while clock() - begin < ns:
        for i in range(400): pass
    tell("inner_raise", 0, clock() - begin)
    raise ValueError


def run(rounds):
    closure = make_closure()
    for _ in range(rounds):
        two_lines(3000000)
        recursive(40, 2000000)
        closure(1500000)
        for _ in generator(1000000): pass
        called_back(2500000)
        raises(1700000)


def main():
    rounds = int(sys.argv[1])
    if sys.argv[2:] == ["threads"]:
        other = threading.Thread(target=run, args=(rounds,))
        other.start()
        run(rounds)
        other.join()
    else:
        run(rounds)
    for (name, line), ns in spent.items():
        print(name, line, ns)


main()
