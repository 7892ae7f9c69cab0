# SPDX-License-Identifier: Apache-2.0
# Shared by the tests that boot a guest. Sourced, not run.
#
# A guest is a Debian kernel, started by QEMU without any help of the host's processor, that has nothing but a
# busybox, precord and the test's own files in memory. Its PMU counts and samples; with --icount it counts
# exactly, one cycle an instruction, and every run does the same. A guest for x86-64 (GUEST_ARCH=x86_64) has no PMU, so
# software events only; it runs what was built for the host. Given: $CROSS (the build for aarch64), $FOREIGN (its
# packages), $TOP, $BUILD.
. "$TOP/tests/e2e/lib/recording.bash"

libraries=$FOREIGN/root
guest_arch=${GUEST_ARCH:-aarch64}
case $guest_arch in
aarch64)
	debian=arm64
	guest_cc="aarch64-linux-gnu-gcc --sysroot=$FOREIGN/root"
	;;
x86_64)
	debian=amd64
	guest_cc=$CC
	FOREIGN=$BUILD/foreign-x86_64
	[ "$(uname -m)" = x86_64 ] || skip 'this machine builds nothing for x86-64'
	[ -z "${SAN-}" ] || skip 'sanitizers need more memory than this guest has'
	command -v qemu-system-x86_64 >/dev/null || skip 'there is no qemu-system-x86_64 (package qemu-system-x86)'
	;;
esac

foreign_apt() {
	"$TOP/.ci/foreign-apt" "$FOREIGN" $debian "$@"
}

# need_kernel VERSION: set KERNEL to the folder with vmlinuz and modules/ of the newest VERSION.*, or skip.
# The VERSION "newest" is whatever is.
need_kernel() {
	KERNEL=$FOREIGN/kernel-$1
	mkdir -p "$FOREIGN"
	exec 8>"$FOREIGN/kernel.lock"
	flock 8
	[ -e "$KERNEL/vmlinuz" ] || fetch_kernel "$1"
	flock -u 8
}

newest_kernel() { # newest_kernel VERSION: the name of its package, without the prefix
	local version=${1//./\\.}
	foreign_apt apt-cache search --names-only '^linux-image-[0-9].*-cloud-'$debian'$' |
		sed -n 's/^linux-image-\([^ ]*\) .*/\1/p' | grep "^${version/newest/[0-9]*}\\." | sort -V | tail -n 1
}

fetch_kernel() { # fetch_kernel VERSION: into $KERNEL; from 7.0 on it is in several packages
	local name part deb file
	name=$(newest_kernel "$1")
	[ -n "$name" ] || skip "the apt of this machine has no kernel $1 for $debian"
	rm -rf "$KERNEL.part"
	mkdir -p "$KERNEL.part/modules" "$KERNEL.part/all"
	for part in image binary modules; do
		(cd "$KERNEL.part" && foreign_apt apt-get -qq download "linux-$part-$name") >&2 || [ $part != image ] ||
			skip "kernel $name cannot be downloaded"
	done
	for deb in "$KERNEL.part"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$KERNEL.part/all" --wildcards '*vmlinuz*' 2>/dev/null || :
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$KERNEL.part/all" --wildcards '*/virtio*.ko*' 2>/dev/null || :
		rm "$deb"
	done
	for part in virtio virtio_ring virtio_mmio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
		file=$(find "$KERNEL.part/all" -name "$part.ko*" | head -n 1)
		case $file in
		'') ;; # built in
		*.xz) xz -dc "$file" >"$KERNEL.part/modules/$part.ko" ;;
		*.zst) zstd -qdc "$file" >"$KERNEL.part/modules/$part.ko" ;;
		*) cp "$file" "$KERNEL.part/modules/$part.ko" ;;
		esac
	done
	file=$(find "$KERNEL.part/all" -type f -name 'vmlinuz*' | head -n 1)
	[ -n "$file" ] || skip "the packages of kernel $name hold no kernel"
	mv "$file" "$KERNEL.part/vmlinuz"
	rm -rf "$KERNEL.part/all" "$KERNEL"
	mv "$KERNEL.part" "$KERNEL"
}

need_busybox() {
	exec 8>"$FOREIGN/busybox.lock"
	flock 8
	if ! [ -e "$FOREIGN/busybox" ]; then
		mkdir -p busybox.part
		(cd busybox.part && foreign_apt apt-get -qq download busybox-static) >&2 &&
			dpkg-deb --fsys-tarfile busybox.part/*.deb | tar -xO --wildcards '*bin/busybox' >busybox.part/busybox &&
			chmod +x busybox.part/busybox && mv busybox.part/busybox "$FOREIGN/busybox" ||
			skip "busybox-static cannot be downloaded for $debian"
	fi
	flock -u 8
}

# add_program FILE...: what the guest runs from /bin, with the libraries that it needs.
add_program() {
	local file name
	mkdir -p root/bin root/lib
	for file; do
		cp "$file" root/bin/
		add_libraries "$file"
	done
}

add_libraries() { # add_libraries FILE: what it and they are linked with
	local name file
	if [ $guest_arch = x86_64 ]; then
		ldd "$1" | sed -n 's/^.*[ \t]\(\/[^ ]*\) (.*/\1/p' | while read -r file; do cp -nL "$file" root/lib/; done
		ln -sfn lib root/lib64
		return
	fi
	for name in $(aarch64-linux-gnu-readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p') ld-linux-aarch64.so.1; do
		[ -e "root/lib/$name" ] && continue
		file=$(find "$libraries/lib" "$libraries/usr/lib" -name "$name" | head -n 1)
		[ -n "$file" ] || fail "there is no $name for $1"
		cp -L "$file" "root/lib/$name"
		add_libraries "root/lib/$name"
	done
}

# build_program NAME [FLAG...]: tests/guest/programs/NAME.c, for the guest.
build_program() {
	local name=$1
	shift
	$guest_cc -O2 -g "$@" -o "$name" "$TOP/tests/guest/programs/$name.c" || fail "$name does not build"
	add_program "$name"
}

# Everything in root/ and a script on standard input become the guest's memory: the same bytes every time.
make_image() {
	mkdir -p root/{bin,lib,proc,sys,dev,tmp,out,modules}
	cp "$FOREIGN/busybox" root/bin/busybox
	rm -f root/modules/*
	cp "$KERNEL"/modules/* root/modules/ 2>/dev/null || :
	cat >root/script
	cp "$TOP/tests/guest/lib/init" root/init
	chmod +x root/init
	find root -exec touch -h -d @0 {} +
	(cd root && find . | LC_ALL=C sort | cpio -o -H newc --quiet --reproducible -R 0:0) >image.cpio
}

# run_guest [--cpu MODEL] [--icount] [--smp N] [--kaslr] <SCRIPT: what SCRIPT leaves in /out is in out/, its exit status
# that of this, what it prints in ./console.
run_guest() {
	local cpu=neoverse-n1 icount= smp=1 kaslr=nokaslr status machine console
	# QEMU 7.2 gives cmpxchg16b wrong flags now and then, and Linux 6.12 relies on them.
	[ $guest_arch = x86_64 ] && cpu=Haswell,cx16=off
	while [ $# -gt 0 ]; do
		case $1 in
		--cpu) cpu=$2; shift 2 ;;
		--icount) icount='-icount shift=0,sleep=off -seed 1 -rtc base=2024-01-01,clock=vm'; shift ;;
		--smp) smp=$2; shift 2 ;;
		--kaslr) kaslr=; shift ;;
		*) fail "run_guest knows no $1" ;;
		esac
	done
	need_busybox
	make_image
	rm -rf out disk
	mkdir out
	truncate -s 64M disk
	case $guest_arch in
	aarch64) machine="qemu-system-aarch64 -M virt,gic-version=3 -device virtio-blk-device,drive=disk" console=ttyAMA0 ;;
	x86_64) machine="qemu-system-x86_64 -accel tcg -device virtio-blk-pci,drive=disk" console=ttyS0 ;;
	esac
	timeout "${GUEST_TIMEOUT:-240}" $machine -cpu "$cpu" $icount -smp "$smp" -m "${GUEST_MEMORY:-512}" \
		-nographic -no-reboot -nic none -kernel "$KERNEL/vmlinuz" -initrd image.cpio \
		-drive if=none,id=disk,format=raw,file=disk \
		-append "console=$console quiet panic=-1 $kaslr" </dev/null >console 2>&1 || :
	tr -d '\r' <console >console.text && mv console.text console
	status=$(sed -n 's/^== status //p' console)
	[ -n "$status" ] || { tail -n 30 console; fail 'the guest did not come to its end'; }
	tar -xf disk -C out || fail 'nothing came back from the guest'
	rm disk image.cpio
	return "$status"
}
