#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real programs side by side for some seconds, each in a shell loop of its own: those of C++ compilers, CPython, Node.js, a JVM,
# Go, Rust, a web server and a database server under load and a text tool, as far as this machine has them. Prints the names of their processes, then runs until killed.
# Usage: mix.sh DIR
set -u
cd "$1" || exit 1
names=
has() { command -v "$1" >/dev/null 2>&1; }
start() { # start NAMES COMMAND: run COMMAND again and again
	names="$names $1"
	(while :; do sh -c "$2" >/dev/null 2>&1 || sleep 0.1; done) &
}

if has c++; then
	printf '#include <regex>\n#include <map>\n#include <iostream>\nint main(int c, char **v) { std::map<std::string, std::regex> m; m[v[0]] = std::regex("a+"); std::cout << m.size(); }\n' >mix.cpp
	start cc1plus 'c++ -O2 -c mix.cpp -o mix.o'
fi
if has clang++; then
	printf '#include <regex>\nint main(int c, char **v) { return std::regex_match(v[0], std::regex("a+")); }\n' >clang.cpp
	start clang++ 'clang++ -O2 -c clang.cpp -o clang.o'
fi
if has python3; then
	cat >mix.py <<'CODE'
import json, re, sqlite3
db = sqlite3.connect(":memory:")
db.execute("create table t (a integer, b text)")
for round in range(40):
    db.executemany("insert into t values (?, ?)", ((i, str(i * 7919 % 1000)) for i in range(2000)))
    db.execute("select b, count(*), sum(a) from t group by b order by 2 desc").fetchall()
    re.findall(r"(\d+), (\d+)", json.dumps(list(range(3000))))
CODE
	start python3 'python3 mix.py'
fi
if has node; then
	cat >mix.js <<'CODE'
const m = new Map();
for (let i = 0; i < 2000000; i++) m.set(i % 5000, JSON.stringify({ a: i, b: [i, i + 1] }));
console.log(require('zlib').gzipSync([...m.values()].sort().join()).length);
CODE
	start node 'node --perf-basic-prof mix.js'
fi
if has javac && has java; then
	cat >Mix.java <<'CODE'
import java.util.*;
public class Mix {
	public static void main(String[] a) {
		Map<String, Integer> m = new TreeMap<>();
		for (int i = 0; i < 3000000; i++) m.merge("k" + i % 10007, i, Integer::sum);
		System.out.println(m.size());
	}
}
CODE
	javac Mix.java && start java 'java -XX:+PreserveFramePointer Mix'
fi
if has go; then
	mkdir -p gomix
	cat >gomix/main.go <<'CODE'
package main

import (
	"fmt"
	"sort"
	"strings"
)

func main() {
	for round := 0; round < 60; round++ {
		words := []string{}
		for i := 0; i < 50000; i++ {
			words = append(words, fmt.Sprint(i*7919%100003))
		}
		sort.Strings(words)
		_ = strings.Join(words, " ")
	}
}
CODE
	(cd gomix && GO111MODULE=off GOFLAGS=-mod=mod go build -o ../gomix.bin main.go) && start gomix.bin ./gomix.bin
fi
if has rustc; then
	printf 'use std::collections::BTreeMap;\nfn main() { let mut m = BTreeMap::new(); for i in 0..3000000u64 { *m.entry(format!("{}", i * 7919 %% 10007)).or_insert(0u64) += i; } println!("{}", m.len()); }\n' >rustmix.rs
	rustc -O -o rustmix rustmix.rs && start rustmix ./rustmix
fi
if has nginx && has ab; then
	printf 'daemon off; worker_processes 1; pid nginx.pid; error_log nginx.log;\nevents {}\nhttp { access_log off; gzip on; gzip_types *; server { listen unix:nginx.sock; listen 127.0.0.1:18417; root .; } }\n' >nginx.conf
	start nginx 'nginx -p . -c nginx.conf'
	(while :; do ab -q -n 20000 -c 4 -H 'Accept-Encoding: gzip' http://127.0.0.1:18417/nginx.conf >/dev/null 2>&1 || sleep 0.1; done) &
fi
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
as=
[ "$(id -u)" != 0 ] || as='setpriv --reuid=postgres --regid=postgres --clear-groups'
if [ -x "$pg/initdb" ] && has pgbench && pgdir=$(mktemp -d "${TMPDIR:-/tmp}/mix.XXXXXX"); then
	[ -z "$as" ] || chown postgres "$pgdir"
	if (cd / && $as "$pg/initdb" -D "$pgdir/data" -A trust -N && $as "$pg/pg_ctl" -w -D "$pgdir/data" -l "$pgdir/log" -o "-c listen_addresses= -c fsync=off -k $pgdir" start &&
		$as pgbench -h "$pgdir" -i postgres) >pg.log 2>&1; then
		names="$names postgres"
		(cd / && while :; do $as pgbench -h "$pgdir" -S -c 2 -T 10 postgres >/dev/null 2>&1 || sleep 0.1; done) &
	fi
	trap '(cd / && $as "$pg/pg_ctl" -m immediate -D "$pgdir/data" stop) >/dev/null 2>&1; rm -rf "$pgdir"; exit' TERM INT
fi
start gzip 'seq 400000 | sort -r | gzip -9'
echo "$names"
wait
