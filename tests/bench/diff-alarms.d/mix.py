# SPDX-License-Identifier: Apache-2.0
# An interpreter at work: arithmetic, JSON, regular expressions, a hash, for a second and a half.
import hashlib
import json
import re
import time


def squares(n):
    return sum(i * i % 7 for i in range(n))


def documents(n):
    return json.loads(json.dumps([{"k": i, "v": str(i)} for i in range(n)]))


def matches(n):
    return [re.sub(r"(\d+)x", r"\1y", "%dx%d" % (i, i)) for i in range(n)]


while time.process_time() < 1.5:
    squares(3000)
    documents(300)
    matches(500)
    hashlib.sha256(b"x" * 200000).hexdigest()
