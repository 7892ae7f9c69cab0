#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real programs side by side for some seconds, each in a shell loop of its own: those of a C++ compiler, CPython, Node.js, a JVM, a database,
# Go, Rust and a text tool that this machine has. Prints the names of their processes, then runs until killed.
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
start gzip 'seq 400000 | sort -r | gzip -9'
echo "$names"
wait
