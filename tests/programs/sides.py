# Calls left_1 to left_4, one another, and right_1 to right_4, one another, by turns, for as many seconds as it is told.
import sys
import time


def left_4(): return 1
def left_3(): return left_4()
def left_2(): return left_3()
def left_1(): return left_2()
def right_4(): return 1
def right_3(): return right_4()
def right_2(): return right_3()
def right_1(): return right_2()


end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for _ in range(10000):
        left_1()
        right_1()
