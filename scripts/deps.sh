#!/bin/sh
# Installs the programs that the tests need: Postgres, PgBouncer, Redis and Chromium, which the tests start themselves, a C
# compiler for the race detector, sqlite3 for the commands of docs/backup.md, and promtool. Promtool is part of Debian's package
# of Prometheus, whose server would start with the machine and use the port of the gateway's admin address, so the package is
# only unpacked, into .tools.
# With arguments: installs these programs instead, each from the package of the same name.
set -eu

tools=$(cd "$(dirname "$0")/.." && pwd)/.tools
missing=
promtool=
if [ $# -gt 0 ]; then
	for program; do command -v "$program" >/dev/null 2>&1 || missing="$missing $program"; done
else
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || missing="$missing postgresql"
	command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ] || missing="$missing pgbouncer"
	command -v sqlite3 >/dev/null 2>&1 || missing="$missing sqlite3"
	command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
	command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
	command -v gcc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
	command -v promtool >/dev/null 2>&1 || [ -x "$tools/promtool" ] || promtool=promtool
fi
[ -n "$missing$promtool" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "Needed:$missing $promtool. Install them with this machine's package manager." >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "Needed:$missing $promtool. Install them as root: apt-get install$missing ${promtool:+prometheus}" >&2
		exit 1
	fi
	as_root=sudo
fi
echo "Installing:$missing $promtool"
export DEBIAN_FRONTEND=noninteractive
# A mirror may fail once, and another process may hold the lock of the packages.
patient="-o Acquire::Retries=5 -o DPkg::Lock::Timeout=300"
# shellcheck disable=SC2086 # options
$as_root apt-get $patient update -qq
policy=
unpacked=
clean() {
	[ -z "$policy" ] || $as_root rm -f "$policy"
	[ -z "$unpacked" ] || rm -rf "$unpacked"
}
trap clean EXIT
if [ -n "$missing" ]; then
	# Debian packages start their server when they are installed, unless policy-rc.d forbids it.
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		policy=/usr/sbin/policy-rc.d
		printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
		$as_root chmod 755 "$policy"
	fi
	# shellcheck disable=SC2086 # options, and a list of packages
	$as_root apt-get $patient install -y -qq --no-install-recommends $missing >/dev/null
fi
if [ -n "$promtool" ]; then
	unpacked=$(mktemp -d)
	# shellcheck disable=SC2086 # options
	(cd "$unpacked" && apt-get $patient download -qq prometheus && dpkg-deb -x prometheus_*.deb .)
	mkdir -p "$tools"
	mv "$unpacked/usr/bin/promtool" "$tools/promtool"
fi
