# SPDX-License-Identifier: Apache-2.0
# Interpreters of other Debian releases, each in a folder with all that they need. Sourced after recording.bash.

releases="$BUILD/releases"

# RELEASE PACKAGE...
interpreters_of_releases='bullseye python3.9 ruby2.7 php7.4-cli
trixie python3.13 ruby3.3 php8.4-cli
sid python3.14 python3.15'

# release_root RELEASE PACKAGE...: unpack the packages to $releases/RELEASE; what went wrong is in RELEASE.log
release_root() {
	local release=$1 root="$releases/$1" file
	shift
	[ -e "$root/complete" ] && return
	rm -rf "$root"
	mkdir -p "$root"/usr/{bin,lib,lib64,sbin} "$root"/{proc,dev,tmp,etc,debs/partial} || return 1
	for file in bin lib lib64 sbin; do ln -s usr/$file "$root/$file"; done
	"$TOP/.ci/foreign-apt" "$BUILD/fresh/apt" amd64 apt-get install -y -qq --download-only \
		-o Dir::Cache::archives="$root/debs" -t "$release" "$@" >"$release.log" 2>&1 || return 1
	for file in "$root"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$file" | tar -x -C "$root" --keep-directory-symlink 2>>"$release.log" || return 1
	done
	rm -rf "$root/debs"
	touch "$root/complete"
}
