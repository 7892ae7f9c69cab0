# SPDX-License-Identifier: Apache-2.0
cat >p.phpspy <<'X'
0 work /srv/a.php:10
1 main /srv/a.php:3
# uri = /cart

0 work /srv/a.php:10
1 main /srv/a.php:3
# uri = /

0 load /srv/a.php:20
1 main /srv/a.php:3
# uri = /cart

X
preport -i p.phpspy --by label:uri
preport -i p.phpspy --by uri,leaf
preport -i p.phpspy --by leaf --where 'uri == /cart'
preport folded -i p.phpspy --where 'uri !~ /c*'
! preport -i p.phpspy --by leaf --where 'url == /cart'
! preport -i p.phpspy --by label:url
for filter in --pid=1 --tid=1 --cpu=0 --comm=x --time=0,1 --module=x --min-wait=1ms; do # not with made-up answers
	! preport -i p.phpspy --by leaf $filter
done
