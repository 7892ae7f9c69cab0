#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What debug information said is kept and believed the next time; whatever is wrong with what was kept, reports are the same.
set -eu
. "$TOP/tests/e2e/lib/recording.bash"
need_recording

cat >p.c <<'CODE'
const char pad[5 << 20] = { 1 }; /* what is smaller is read as fast */
volatile unsigned long sum;
static inline __attribute__((always_inline)) void inner(unsigned long i) { sum += i * i; }
__attribute__((noinline)) void outer(unsigned long n) { for (unsigned long i = 0; i < n; i++) inner(i); }
int main(void) { outer(300000000); return pad[0] - 1; }
CODE
$CC -O2 -g -Wl,--build-id=sha1 -o p p.c
precord -q -e cpu-clock -o t.trace -- ./p
folder=$XDG_CACHE_HOME/preport
mkdir -p no-debug
preport='preport -i t.trace --debug-dir=no-debug' # of the C library there may be much, if samples meet it

all() { # all NAME [OPTION...]: everything that has lines in it
	local name=$1
	shift
	{ $preport "$@"; $preport "$@" --by leaf,line --limit 1000; $preport folded "$@"; $preport info "$@"; $preport annotate outer "$@"; $preport script "$@" >script; head -500 script; } >"$name" 2>&1 || :
	grep -q inner "$name" || fail "no inlined call in $name: $(head -20 "$name")"
}
all plain --no-cache
[ ! -e "$folder" ] || fail "--no-cache keeps something"
all cold
all warm
cmp plain cold || fail "keeping answers changes them"
cmp plain warm || fail "kept answers are others"
[ "$(ls "$folder" | wc -l)" = 1 ] || fail "not one file: $(ls "$folder")"
entry=$folder/$(ls "$folder")
preport cache list | grep -q "^$(basename "$entry") " || fail "it is not listed: $(preport cache list)"

before=$(stat -c '%i %Y %s' "$entry")
all again
[ "$before" = "$(stat -c '%i %Y %s' "$entry")" ] || fail "a report that names nothing new wrote"

# It is what is asked first: with debug information that was spoiled behind its back, it still knows.
offset=$(readelf -SW p | awk '/ \.debug_info / { for (i = 1; i < NF; i++) if ($i == "PROGBITS") print $(i + 2) }')
cp -p p good
dd if=/dev/zero of=p bs=1 seek=$((16#$offset)) count=64 conv=notrunc 2>/dev/null
touch -r good p
all spoiled
cmp plain spoiled || fail "what was kept was not asked"
touch p
$preport --by leaf,line --limit 1000 >touched 2>&1
grep -q inner touched && fail "a file that has changed is taken for the one that was asked"
cp -p good p

# Broken entries.
all warm
for damage in 'truncate -s 20' 'truncate -s -1' 'truncate -s +1' 'truncate -s 0' 'truncate -s +100M' 'dd if=/dev/urandom bs=100 count=1 conv=notrunc status=none seek=1 of='; do
	case $damage in *of=) $damage"$entry" ;; *) $damage "$entry" ;; esac
	$preport --by leaf,line --limit 1000 >damaged 2>&1
	$preport --by leaf,line --limit 1000 --no-cache >undamaged 2>&1
	cmp damaged undamaged || fail "'$damage' changes the report"
	[ "$(stat -c %s "$entry")" -lt 1000000 ] || fail "'$damage' is not repaired"
done
rm "$entry"; mkfifo "$entry"
timeout 60 $preport --by leaf,line --limit 1000 >damaged 2>&1 || fail "a pipe in the cache holds it up"
cmp damaged undamaged || fail "a pipe in the cache changes the report"

# Nowhere to write.
for where in /dev/null /proc/nothing relative ''; do
	XDG_CACHE_HOME=$where HOME=/nonexistent $preport --by leaf,line --limit 1000 >nowhere 2>&1
	cmp nowhere undamaged || fail "XDG_CACHE_HOME='$where' changes the report"
done
[ ! -e relative ] || fail "a relative XDG_CACHE_HOME is taken"
mkdir home full
env -u XDG_CACHE_HOME HOME=$PWD/home $preport --by leaf >/dev/null 2>&1
[ "$(ls home/.cache/preport | wc -l)" = 1 ] || fail "HOME/.cache/preport is not used"
if unshare -m true 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs -o size=4k none full && head -c 4096 /dev/zero >full/all && XDG_CACHE_HOME=$PWD/full '"$preport"' --by leaf,line --limit 1000; ls -A full/preport 2>/dev/null >left' >fulldisk 2>&1 || :
	cmp fulldisk undamaged || fail "a full disk changes the report"
	[ ! -s left ] || fail "on a full disk something is left: $(cat left)"
fi

# Several at a time.
preport cache clear >/dev/null 2>&1 || :
rm -rf "$folder"
for i in 1 2 3 4 5 6; do $preport --by leaf,line --limit 1000 >many.$i 2>&1 & done
wait
for i in 1 2 3 4 5 6; do cmp many.$i undamaged || fail "several at a time: one differs"; done
[ "$(ls -A "$folder" | wc -l)" = 1 ] || fail "several at a time leave $(ls -A "$folder")"

preport cache clear | grep -q '^removed 1 file, ' || fail "clear says something else"
preport cache list | grep -q '^0 files' || fail "clear leaves something"
preport cache 2>/dev/null && fail "'preport cache' alone succeeds"
preport cache sweep 2>/dev/null && fail "'preport cache sweep' succeeds"
exit 0
