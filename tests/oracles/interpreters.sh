#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of every CPython, PHP and Ruby that is here or in another Debian release, one by one, beside the interpreter's own word at the same
# time (tests/programs/words.*), and shares of functions and lines beside what the program spent. One table.
#
# SECONDS_EACH=4 RATE=1999: how long each is recorded, and how often it is sampled
set -u
. "$TOP/tests/e2e/lib/recording.bash"
. "$TOP/tests/e2e/lib/words.bash"
. "$TOP/tests/e2e/lib/releases.bash"
need_recording
need_interpreters
command -v python3 >/dev/null || skip 'there is no python3 to compare with'

percent() { awk -v part="$1" -v all="$2" 'BEGIN { if (all) printf "%.2f %%", 100 * part / all; else printf "-" }'; }

row() { printf '%-26s %8s %9s %7s %9s %9s %9s %5s %5s %9s %6s\n' "$@" >>table; }

try() { # try NAME COMMAND...
	local name=$1
	shift
	echo "$name:"
	one_by_one "${RATE:-1999}" "$@" "${SECONDS_EACH:-4}"
	row "$name" "$compared" "$(percent "$equal" "$compared")" "$edges" "$(percent "$lines_right" "$lines")" "$(percent "$named" "$frames")" \
		"$(percent "$read" "$within")" "$torn" "$late" "$shares_inside of $shares" "$worst"
	tried=1
	[ $((equal * 1000)) -ge $((compared * 995)) ] || wrong="$wrong $name"
	[ $shares_right = 0 ] || wrong="$wrong $name's-shares"
}

pythons() {
	command -v python3
	command -v pyenv >/dev/null 2>&1 && ls "$(pyenv root)"/versions/3.*/bin/python3 2>/dev/null
}

in_releases() {
	local release packages package program
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || return
	while read -r release packages; do
		release_root "$release" $packages || { echo "$release: $(tail -n 1 "$release".log)"; continue; }
		cp "$TOP"/tests/programs/words.* "$releases/$release/"
		for package in $packages; do
			program=${package%-cli}
			chroot "$releases/$release" "$program" --version >version.txt 2>&1 || { echo "$release: $program cannot run here"; continue; }
			case $program in
			python*) try "$program of $release" chroot "$releases/$release" "$program" /words.py ;;
			php*) try "$program of $release" chroot "$releases/$release" "$program" /words.php ;;
			ruby*) try "$program of $release" chroot "$releases/$release" "$program" /words.rb ;;
			esac
		done
	done <<<"$interpreters_of_releases"
}

tried= wrong= seen=
row interpreter compared equal edges lines named read torn late shares worst >table
for python in $(pythons | sort -uV); do
	name=$("$python" -c 'import sys; assert (3, 6) <= sys.version_info[:2] and sys.implementation.name == "cpython"; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) ||
		continue
	case $seen in *" $name "*) continue ;; esac
	seen="$seen $name "
	try "CPython $name" "$python" "$TOP/tests/programs/words.py"
done
! php=$(command -v php) || try "PHP $("$php" -r 'echo PHP_VERSION;')" "$php" "$TOP/tests/programs/words.php"
! ruby=$(command -v ruby) || try "Ruby $("$ruby" -e 'print RUBY_VERSION')" "$ruby" "$TOP/tests/programs/words.rb"
in_releases
[ "$tried" ] || skip 'there is no interpreter that is known'
cat table
echo "equal: functions, their order and lines. read: of samples within a section, those with a whole stack. shares: inside their 95 % interval."
[ -z "$wrong" ] || fail "not what the interpreter says:$wrong"
exit 0
