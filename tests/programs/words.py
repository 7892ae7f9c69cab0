# SPDX-License-Identifier: Apache-2.0
"""Tells what its stack was and from when to when, for whoever sampled it meanwhile.

words.py SECONDS. At the end, a stack a line and then a section a line:
STACK NUMBER FIRST LAST INNER FUNCTION:LINE;...   (root first; FIRST and LAST: lines of its last frame where the section begins and ends;
                                                   INNER: functions in C that it may be in, and that have frames)
AT THREAD BEGIN END CPU NUMBER              (CLOCK_MONOTONIC, ns; CPU: what of it the thread had of a CPU)
A section is one line in a loop or one call of C. What the stack was is CPython's own word (sys._current_frames) when it begins.
"""
import asyncio
import functools
import os
import pickle
import signal
import sys
import threading
import time

try:
    import ctypes
    C = ctypes.CDLL(None)
except ImportError:  # built without
    ctypes = None
try:
    import sqlite3
except ImportError:
    sqlite3 = None

if hasattr(time, "thread_time_ns"):
    now, cpu = time.monotonic_ns, time.thread_time_ns
else:  # Python 3.6
    def now():
        return int(time.clock_gettime(1) * 1e9)

    def cpu():
        return int(time.clock_gettime(3) * 1e9)

stacks = {}
sections = []
ROUND = 12000


def native_id():
    if hasattr(threading, "get_native_id"):
        return threading.get_native_id()
    return int(os.readlink("/proc/thread-self").rsplit("/", 1)[1])


def section(last):
    """To be called on the line where a section begins; its work is in the next line, its end @last lines further."""
    frame = sys._current_frames()[threading.get_ident()].f_back
    first = frame.f_lineno
    names = []
    while frame:
        code = frame.f_code
        line = frame.f_lineno if names else first + 1
        names.append((getattr(code, "co_qualname", code.co_name), line))
        frame = frame.f_back
    key = (first, first + last) + tuple(names)
    number = stacks.setdefault(key, len(stacks))
    used = cpu()
    return number, used, now()


def over(begun):
    sections.append((native_id(), begun[2], now(), cpu() - begun[1], begun[0]))


def two_lines():
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)

    begun = section(2)
    for i in range(2 * ROUND): pass
    over(begun)


def recursive(depth):
    if depth:
        return recursive(depth - 1)
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)


def make_closure(text):
    def closure():
        begun = section(2)
        for i in text * ROUND: pass
        over(begun)
    return closure


def generator():
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)
    yield 1
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)


def delegates():
    yield from generator()


class Item:
    def __lt__(self, other):
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)
        return False

    @property
    def value(self):
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)

    @staticmethod
    def key(value):
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)
        return value


def decorated(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@decorated
def below_wrapper():
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)


def raises():
    try:
        raise_deep(12)
    except ValueError:
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)


def raise_deep(depth):
    try:
        if depth:
            raise_deep(depth - 1)
        raise ValueError
    finally:
        if depth == 6:
            begun = section(2)
            for i in range(ROUND): pass
            over(begun)


def calls_c():
    text = "x" * 40
    begun = section(2)
    sum(range(3 * ROUND))
    over(begun)
    begun = section(2)
    sorted([text] * ROUND)
    over(begun)
    sorted([1, 2], key=Item.key)


def spread_out():
    return max(
        1,
        len([
            two_lines(),
        ]),
        recursive(
            2) or 1)


async def awaited():
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)
    await asyncio.sleep(0)
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)


async def awaits():
    await asyncio.gather(awaited(), awaited())


async def agenerator():
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)
    yield 1
    await asyncio.sleep(0)
    two_lines()
    yield 2


async def iterates():
    async for _ in agenerator(): two_lines()
    await asyncio.get_event_loop().create_task(awaited())


def delegates_deep(depth):
    yield from delegates_deep(depth - 1) if depth else generator()


def called_by_c(*args):
    begun = section(2)
    for i in range(ROUND): pass
    over(begun)
    return 0


class Dies:
    def __del__(self):
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)


class Pickled:
    def __reduce__(self):
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)
        return Pickled, ()


class Made(type):
    def __call__(cls, *args):
        two_lines()
        return super().__call__(*args)


class Managed(metaclass=Made):
    def __init__(self):
        two_lines()

    def __enter__(self):
        two_lines()

    def __exit__(self, *args):
        called_by_c()


def class_body():
    class Body:
        begun = section(2)
        for i in range(ROUND): pass
        over(begun)


def comprehensions():
    [[two_lines() for _ in range(1)] for _ in range(1)]
    {k: two_lines() for k in range(1)}
    {two_lines() for _ in range(1)}
    list(two_lines() for _ in range(1))
    return [called_by_c() for _ in (lambda: [two_lines()])()]


def called_back():
    if ctypes:
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        C.qsort((ctypes.c_int * 2)(2, 1), 2, 4, kind(called_by_c))
    if sqlite3:
        db = sqlite3.connect(":memory:")
        db.create_function("called", 1, called_by_c)
        db.execute("select called(1)").fetchall()
        db.close()
    pickle.dumps(Pickled())
    list(map(lambda x: called_by_c(x), [1])); list(filter(lambda x: two_lines(), [1]))
    functools.partial(functools.reduce, called_by_c)([1, 2])
    eval("[two_lines(), called_by_c()]")
    if threading.current_thread() is threading.main_thread():
        signal.raise_signal(signal.SIGUSR1) if hasattr(signal, "raise_signal") else os.kill(os.getpid(), signal.SIGUSR1)


made = compile("\n" * 5 + "def made_up(call):\n    call()\n\nmade_up(two_lines)\n", "<made up>", "exec")


def run(until):
    closure = make_closure("ab")
    while now() < until:
        two_lines()
        recursive(40)
        closure()
        for _ in generator(): pass
        list(delegates())
        sorted([Item(), Item()])
        Item().value
        below_wrapper()
        raises()
        calls_c()
        spread_out()
        exec(made, {"two_lines": two_lines})
        (lambda: two_lines())()
        [two_lines() for _ in range(1)]
        loop = asyncio.new_event_loop()
        loop.run_until_complete(awaits())
        loop.run_until_complete(iterates())
        loop.close()
        recursive(400)
        list(delegates_deep(5))
        called_back()
        comprehensions()
        class_body()
        Dies()
        with Managed(): two_lines()


def main():
    until = now() + int(float(sys.argv[1]) * 1e9)
    signal.signal(signal.SIGUSR1, called_by_c)
    others = [threading.Thread(target=run, args=(until,)) for _ in range(2)]
    for other in others:
        other.start()
    run(until)
    for other in others:
        other.join()
    for key, number in stacks.items():
        print("STACK", number, key[0], key[1], "-", ";".join("%s:%d" % frame for frame in reversed(key[2:])))
    for line in sections:
        print("AT %d %d %d %d %d" % line)


main()
