# SPDX-License-Identifier: Apache-2.0
"""One thread sleeps, one waits for an event, one burns CPU time, until it is killed. Says when all of them do."""
import os
import threading
import time

begun = threading.Event()


def burns(number):
    text = "secret" + str(number)
    begun.set()
    while True:
        number = number + 1 if number < 1000 else 0  # LINE BURN


class Waiter:
    def waits(self, what):
        what.wait()  # LINE EVER


threading.Thread(target=Waiter().waits, args=(threading.Event(),), daemon=True).start()
threading.Thread(target=burns, args=(1,), daemon=True).start()
begun.wait()
print("ready", os.getpid(), flush=True)
time.sleep(1000)  # LINE SLEEP
