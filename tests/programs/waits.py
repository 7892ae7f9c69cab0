# SPDX-License-Identifier: Apache-2.0
"""Waits in two functions, twice as long in one as in the other, while another thread waits for a lock. Says how long."""
import sys
import threading
import time

spent = {"short": 0, "long": 0}


def short():
    time.sleep(0.02)  # LINE SHORT


def long():
    time.sleep(0.04)  # LINE LONG


def waits_for_ever():
    threading.Event().wait()  # LINE EVER


threading.Thread(target=waits_for_ever, daemon=True).start()
for _ in range(int(sys.argv[1])):
    for name, function in (("short", short), ("long", long)):
        begin = time.monotonic_ns()
        function()
        spent[name] += time.monotonic_ns() - begin
for name in sorted(spent):
    print(name, spent[name])
