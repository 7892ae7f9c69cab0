# SPDX-License-Identifier: Apache-2.0
"""Asyncio tasks that burn CPU time in turns, 6 to 3 to 1, below coroutines that others await; "NAME NS" for each."""
import asyncio
import sys
import time

spent = {}


def burn(name, ns):
    begin = time.thread_time_ns()
    while time.thread_time_ns() - begin < ns:
        for i in range(200): pass
    spent[name] = spent.get(name, 0) + time.thread_time_ns() - begin


async def inner(name, ns):
    await asyncio.sleep(0)
    burn(name, ns)
    await asyncio.sleep(0.0001)


async def work(name, rounds, ns):
    for _ in range(rounds):
        await inner(name, ns)


async def group(rounds):
    await asyncio.gather(asyncio.create_task(work("heavy", rounds, 6000000), name="heavy"),
                         asyncio.create_task(work("light", rounds, 3000000), name="light"))


async def main():
    rounds = int(sys.argv[1])
    boss = asyncio.create_task(group(rounds), name="boss")
    await asyncio.create_task(work("unnamed", rounds, 1000000))
    await boss
    for name, ns in spent.items():
        print(name, ns)


asyncio.run(main())
