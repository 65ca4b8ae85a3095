#!/bin/bash
# Runs the two commands of README.md, `make run` until it answers and `make test`, in a new root of Debian 12 with git, make,
# certificates and Go, and nothing else of this machine. What is committed is tested. Modules, packages and compiled code are
# downloaded and made anew. Needs root, 20 GB and an hour or more; PRISM_LISTEN and PRISM_ADMIN_LISTEN are passed on. With
# arguments: runs this command there instead.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != inside ]; then
	[ "$(id -u)" = 0 ] || { echo "make bare needs root, for debootstrap and its mounts." >&2; exit 1; }
	scripts/deps.sh debootstrap
	root=$(mktemp -d "${TMPDIR:-/tmp}/prism-bare-XXXXXX")
	pid=
	end() {
		[ -z "$pid" ] || { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true
		rm -rf --one-file-system "$root" || { sleep 5; rm -rf --one-file-system "$root"; } # processes may still be ending
	}
	trap end EXIT
	# All mounts and processes are in namespaces of their own and end with this script, so what is removed has no mounts.
	unshare --mount --propagation private --pid --fork --kill-child scripts/bare.sh inside "$root" "$@" &
	pid=$!
	wait "$pid" && status=0 || status=$?
	pid=
	exit "$status"
fi

# The first process of a namespace of processes: so it was started by the command above.
[ $$ = 1 ] || { echo "This mounts, and needs namespaces of its own." >&2; exit 1; }
root=$2
shift 2

# The mirrors of this machine, which may be others than Debian's own.
mirrors=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' | grep ' bookworm' || true)
mirrors=${mirrors:-deb http://deb.debian.org/debian bookworm main}
mirror=$(awk '$3 == "bookworm" { print $2; exit }' <<<"$mirrors")
chmod 755 "$root"
mount --bind "$root" "$root" # pivot_root needs a mount
debootstrap --variant=minbase --include=ca-certificates,git,make bookworm "$root" "$mirror" >"$root/debootstrap.log" ||
	{ tail "$root/debootstrap.log" >&2; exit 1; }
echo "$mirrors" >"$root/etc/apt/sources.list"
apt-config dump Acquire | grep -iE '::(proxy|check-valid-until|check-date)' >"$root/etc/apt/apt.conf.d/90machine" || true
# How this machine reaches the network: names, and the authorities that it trusts.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
git clone -q "file://$PWD" "$root/root/prism"

mkdir "$root/usr/local/go"
mount --bind "$(go env GOROOT)" "$root/usr/local/go"
mount -o remount,bind,ro "$root/usr/local/go"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup" # in which tests make groups of their own
# Devices of its own: scripts of packages run as root, and must not reach those of this machine.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
	IFS=: read -r name major minor <<<"$device"
	mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done
ln -s /proc/self/fd "$root/dev/fd"
for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "$root/dev/${n#*:}"; done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"

passed=()
while IFS= read -r name; do passed+=("$name=${!name}"); done < <(compgen -e |
	grep -E '^((https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|(npm_config|NPM_CONFIG)_.*|GO(PROXY|SUMDB|NOSUMDB|PRIVATE|NOPROXY)|PRISM_(ADMIN_)?LISTEN)$')
[ $# -gt 0 ] || set -- bash -euo pipefail -c '
admin=${PRISM_ADMIN_LISTEN:-127.0.0.1:9090}
answers() { { exec 3<>"/dev/tcp/${admin%:*}/${admin##*:}" && printf "GET /readyz HTTP/1.0\r\n\r\n" >&3 && head -1 <&3 | grep -q " 200 "; } 2>/dev/null; }
began=$SECONDS
make run &
run=$!
until answers; do
	kill -0 "$run" 2>/dev/null || { echo "make run ended before it answered" >&2; exit 1; }
	sleep 1
done
echo "make run answers after $((SECONDS - began)) s"
kill "$run"
wait "$run" || true
began=$SECONDS
make test
echo "make test passed after $((SECONDS - began)) s; all this takes $(du -shx / | cut -f1)"'
mkdir "$root/machine"
cd "$root"
pivot_root . machine
umount -l /machine
rmdir /machine
cd /root/prism
exec env -i HOME=/root PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin GOTOOLCHAIN=local \
	NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "${passed[@]}" "$@"
