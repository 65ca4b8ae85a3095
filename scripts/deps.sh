#!/bin/sh
# Installs from Debian the programs that the tests need, if this machine lacks them: Postgres, PgBouncer, Redis and Chromium, which
# the tests start themselves, a C compiler for the race detector, and sqlite3 for the commands of docs/backup.md. The packages of
# promtool and nginx have a server that would start with the machine, on the port of the gateway's admin address or on port 80, so
# these are only unpacked, and the programs are in .tools/bin.
# With arguments: installs these programs instead, each from the package of the same name.
set -eu

tools=$(cd "$(dirname "$0")/.." && pwd)/.tools
packages=
unpacked=
lacks() { ! command -v "$1" >/dev/null 2>&1 && [ ! -x "/usr/sbin/$1" ] && [ ! -x "$tools/bin/$1" ]; }
if [ $# -gt 0 ]; then
	for program; do ! lacks "$program" || packages="$packages $program"; done
else
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || ! lacks initdb || packages="$packages postgresql"
	for program in pgbouncer sqlite3 redis-server; do ! lacks "$program" || packages="$packages $program"; done
	! lacks chromium || ! lacks google-chrome || packages="$packages chromium"
	! lacks gcc || packages="$packages gcc libc6-dev"
	! lacks promtool || unpacked="$unpacked prometheus:usr/bin/promtool"
	! lacks nginx || unpacked="$unpacked nginx:usr/sbin/nginx"
fi
[ -n "$packages$unpacked" ] || exit 0

needed="$packages$(for one in $unpacked; do printf ' %s' "${one%%:*}"; done)"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "Needed:$needed. Install them with this machine's package manager." >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "Needed:$needed. Install them as root: apt-get install$needed" >&2
		exit 1
	fi
	as_root=sudo
fi
echo "Installing:$needed"
export DEBIAN_FRONTEND=noninteractive
# A mirror may fail once, and another process may hold the lock of the packages.
patient="-o Acquire::Retries=5 -o DPkg::Lock::Timeout=300"
# shellcheck disable=SC2086 # options
$as_root apt-get $patient update -qq
policy=
folder=
clean() {
	[ -z "$policy" ] || $as_root rm -f "$policy"
	[ -z "$folder" ] || rm -rf "$folder"
}
trap clean EXIT
if [ -n "$packages" ]; then
	# Debian packages start their server when they are installed, unless policy-rc.d forbids it.
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		policy=/usr/sbin/policy-rc.d
		printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
		$as_root chmod 755 "$policy"
	fi
	# shellcheck disable=SC2086 # options, and a list of packages
	$as_root apt-get $patient install -y -qq --no-install-recommends $packages >/dev/null
fi
for one in $unpacked; do
	folder=$(mktemp -d)
	# shellcheck disable=SC2086 # options
	(cd "$folder" && apt-get $patient download -qq "${one%%:*}" && dpkg-deb -x ./*.deb .)
	mkdir -p "$tools/bin"
	mv "$folder/${one#*:}" "$tools/bin/"
	rm -rf "$folder"
done
