# SPDX-License-Identifier: Apache-2.0
printf 'a;b 1\na;b x\n' >value.folded
printf 'a;b 18446744073709551615\na;c 1\n' >sum.folded
printf '# nothing\na;b 0\n' >empty.folded
printf '\037\213garbage that is no deflate stream' >garbage.pb.gz
printf 'a;b 10\n' >a.folded
preport pprof -i a.folded -o whole.pb.gz
head -c 40 whole.pb.gz >cut.pb.gz
gzip -dc whole.pb.gz | head -c 30 >cut.pb
for file in value.folded sum.folded empty.folded garbage.pb.gz cut.pb.gz cut.pb; do
	preport -i $file --by leaf
	echo "status $?"
done
