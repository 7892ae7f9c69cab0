# SPDX-License-Identifier: Apache-2.0
# Maps the file argv[1], and writes where to "address". Once there is a file "go", a thread asks for memory, which waits for as long as somebody else waits
# for a page of that file; "locked" then has the time. The first thread works for argv[2] seconds.
import ctypes
import mmap
import os
import sys
import threading
import time


# Nothing in here may need new memory: before the time is written that would wait already.
def waits():
    while not os.path.exists('go'):
        time.sleep(0.02)
    os.write(told, b'%d' % time.monotonic_ns())
    libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)


libc = ctypes.CDLL(None)
libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
told = os.open('locked', os.O_WRONLY | os.O_CREAT, 0o600)
with open(sys.argv[1], 'rb') as file:
    held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)
with open('/proc/self/maps') as maps:
    address = [line.split('-')[0] for line in maps if line.rstrip().endswith(sys.argv[1].split('/')[-1])][0]
with open('address', 'w') as out:
    out.write('%d\n' % int(address, 16))
threading.Thread(target=waits, daemon=True).start()
end = time.monotonic() + float(sys.argv[2])
n = 0
while time.monotonic() < end:
    for i in range(10000):
        n += i
os._exit(0)
