# SPDX-License-Identifier: Apache-2.0
printf 'prog;main;old 300\nprog;main;both 300\n' >a.folded
printf 'prog;main;both 300\nprog;main;new</script> 300\n' >b.folded
preport diff a.folded b.folded --flamegraph -o d.html >out 2>err; echo "status $?"
cat out err
head -c 15 d.html; echo
grep -c '<script' d.html
