# SPDX-License-Identifier: Apache-2.0
cat >p.phpspy <<'X'
0 work /srv/a.php:10
1 main /srv/a.php:3
# uri = /cart

X
for by in process program comm thread cpu module entry state wait syscall waker address; do # not with one blank row, or "on a CPU"
	! preport -i p.phpspy --by $by
done
# What names it has, it has also without numbers.
cat >a.folded <<'X'
prog;main;work 3
other;main 2
X
preport -i a.folded --by process
preport export --to speedscope -i a.folded -o a.json 2>/dev/null && grep -o '"name": "[a-z]* (samples)"' a.json
preport export --to firefox -i p.phpspy -o p.json 2>/dev/null && grep -o '"isMainThread": [a-z]*' p.json
