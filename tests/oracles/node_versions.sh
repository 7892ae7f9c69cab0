#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/runtime_node_chains.sh for each version of Node.js that precord(1) names, fetched by npm: 600 MB.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/node.bash"
need_recording
[ "$(uname -m)" = x86_64 ] || skip "rules for V8's code are x86-64's"
command -v npm >/dev/null || skip 'there is no npm'
command -v python3 >/dev/null || skip 'there is no python3'
trap 'kill $victim 2>/dev/null' EXIT

compared=
for version in 18 20 22 24 26; do
	mkdir -p v$version
	(cd v$version && npm init -y && timeout 300 npm install node@$version) >npm.log 2>&1 ||
		{ echo "Node.js $version cannot be fetched: not compared"; continue; }
	node=$PWD/v$version/node_modules/node/bin/node
	knows_node "$node" || { echo "node@$version has V8 $("$node" -p process.versions.v8)"; continue; }
	node_chains "$node"
	node_chains "$node" --no-opt
	node_chains "$node" --max-lazy
done
[ "$compared" ] || skip 'nothing could be compared'
exit 0
