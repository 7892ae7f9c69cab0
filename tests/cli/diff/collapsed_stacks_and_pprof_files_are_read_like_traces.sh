# SPDX-License-Identifier: Apache-2.0
cat >a.folded <<'X'
# a comment
prog;main [prog];work [prog];memcpy [libc.so.6] 60

prog;main [prog];work [prog] 30
prog;main [prog];read [libc.so.6];vfs_read_[k] [[kernel]] 10
other;main [other] 20
X
preport -i a.folded --by leaf
preport -i a.folded --by total --comm prog
preport -i a.folded --by module,leaf --format=csv
preport -i a.folded | head -n 3
preport folded -i a.folded --with-module
preport pprof -i a.folded -o a.pb.gz && preport folded -i a.pb.gz --with-module
gzip -dc a.pb.gz >a.pb && preport -i a.pb --by leaf --module prog
preport flamegraph -i a.pb.gz -o a.html && head -c 15 a.html
for by in line address thread cpu leaf,line; do # not with made-up answers
	! preport -i a.folded --by $by
done
