-- SPDX-License-Identifier: Apache-2.0
-- A database at work: a load, an index, a join.
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 250000) insert into t select x, (x * 7919) % 100003 from c;
create index i on t(b);
select sum(x.a) from t x join t y on x.b = y.b;
select b % 100, count(*), max(a) from t group by 1 order by 2 desc limit 3;
