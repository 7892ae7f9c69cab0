#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Keep every CPU busy with real programs until killed: a C++ compiler, an interpreter, and programs with
# known shares. Usage: load.sh DIR  (DIR holds 'shares' and receives scratch files)
set -u
dir=$1
cpus=$(getconf _NPROCESSORS_ONLN)
trap 'trap "" TERM INT; kill 0; exit' TERM INT

cat > "$dir/load.cpp" <<'CODE'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct ladder {
	std::map<std::string, std::vector<ladder<N - 1>>> rungs;
	ladder<N - 1> below;
	int climb(const std::string &s) const { return below.climb(s) + (int)rungs.size(); }
};
template <> struct ladder<0> { int climb(const std::string &s) const { return (int)s.size(); } };
int main(int argc, char **argv)
{
	ladder<40> l;
	std::regex re("(a|b)*c+[[:digit:]]");
	std::unordered_map<std::string, std::function<int(int)>> f;
	f["x"] = [&](int i) { return i + l.climb(argv[0]); };
	return f["x"](argc) + (int)std::regex_match(argv[0], re);
}
CODE

cat > "$dir/load.py" <<'CODE'
import json, re, zlib

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

while True:
    fib(18)
    text = json.dumps({str(i): [i] * 5 for i in range(500)})
    json.loads(text)
    re.findall(r"(\d+), (\d+)", text)
    zlib.compress(text.encode())
CODE

i=0
while [ $i -lt "$cpus" ]; do
	(while :; do c++ -O2 -g -c -o "$dir/load$i.o" "$dir/load.cpp"; done) &
	(command -v python3 >/dev/null && exec python3 "$dir/load.py") &
	"$dir/shares" plain 100000 &
	i=$((i + 1))
done
wait
