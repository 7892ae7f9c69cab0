#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names from a real debuginfod server on loopback; servers that hang or send without end take no longer than they may.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
for tool in debuginfod python3 objcopy strip; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
precord -q -F 99 -o try.trace -- true 2>/dev/null || skip "events cannot be opened"
cat >hidden.c <<'C'
#include <time.h>
static __attribute__((noinline)) long only_in_debug_file(long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i % 7; return s; }
int main(void) { volatile long t = 0; clock_t end = clock() + CLOCKS_PER_SEC; while (clock() < end) t += only_in_debug_file(100000); return 0; }
C
$CC -O1 -g -Wl,--build-id -o hidden hidden.c || fail "cannot compile"
mkdir served
objcopy --only-keep-debug hidden served/hidden.debug && strip hidden || fail "cannot strip"
precord -q -F 499 --bundle=none -o hidden.trace -- ./hidden || fail "precord"
preport -i hidden.trace --by leaf --format=csv >without.csv || fail "preport"
grep -q only_in_debug_file without.csv && fail "the name is there without a server"

servers=
trap 'kill $servers 2>/dev/null' EXIT
port=
for try in $(seq 20); do
	port=$((20000 + (RANDOM + $$) % 20000))
	debuginfod -p $port -d :memory: -F served >server.log 2>&1 &
	server=$!
	for i in $(seq 600); do # until it listens, or has found the port taken
		(: <>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break
		kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	sleep 0.2 # one that found it taken has ended by now
	kill -0 $server 2>/dev/null && break
done
kill -0 $server 2>/dev/null || skip "debuginfod does not start here: $(tail -1 server.log)"
servers=$server
export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_URLS=http://127.0.0.1:$port
id=$(readelf -n hidden | sed -n 's/.*Build ID: //p')
for i in $(seq 600); do # until the server has looked through its folder
	python3 - "$DEBUGINFOD_URLS/buildid/$id/debuginfo" 2>/dev/null <<'P' && break
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=5).read()
P
	sleep 0.1
done
preport -i hidden.trace --no-cache --by leaf --format=csv >with.csv || fail "preport with a server"
grep -q ',only_in_debug_file,hidden' with.csv || { cat with.csv; fail "the server's names are not used"; }

# One that never answers, and one that sends for ever.
cat >bad.py <<'P'
import socket, sys, threading, time
def serve(c, endless):
    c.recv(4096)
    if endless:
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n")
        try:
            while True:
                c.sendall(b"\x7fELF" + b"\0" * 65536); time.sleep(0.05)
        except OSError:
            pass
    else:
        time.sleep(600)
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(16)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c, sys.argv[1] == "endless"), daemon=True).start()
P
for kind in silent endless; do
	python3 bad.py $kind >$kind.port &
	servers="$servers $!"
	for i in $(seq 600); do [ -s $kind.port ] && break; sleep 0.1; done
	export DEBUGINFOD_CACHE_PATH=$PWD/cache-$kind DEBUGINFOD_URLS=http://127.0.0.1:$(cat $kind.port)
	timeout 300 preport -i hidden.trace --no-cache --debuginfod-time=2 --by leaf --format=csv >$kind.csv 2>$kind.err ||
		{ cat $kind.err; fail "a $kind server holds up the report"; }
	grep -q 'debuginfod took more than 2 s: [0-9]* files were abandoned' $kind.err || { cat $kind.err; fail "$kind: that time ran out is not said"; }
	cmp -s $kind.csv without.csv || fail "a $kind server changes the report"
done
exit 0
