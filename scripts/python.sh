#!/bin/sh
# Writes or checks the Python client with the tools of client/python/requirements.txt, which are installed from PyPI, pinned and
# checked by their hashes, into a virtual environment below .tools. The tests import the wheel that is built, not the sources.
set -eu

cd "$(dirname "$0")/.."
tools=$PWD/.tools/python
venv=$tools/venv
client=client/python
if ! cmp -s "$client/requirements.txt" "$venv/installed.txt"; then
	scripts/deps.sh python3
	python3 -c 'import ensurepip' 2>/dev/null || scripts/deps.sh python3-venv # Debian has it in a package of its own
	echo "Installing the tools of the Python client from PyPI"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r "$client/requirements.txt"
	cp "$client/requirements.txt" "$venv/installed.txt"
fi
export PYTHONPYCACHEPREFIX="$tools/pycache" RUFF_CACHE_DIR="$tools/ruff" MYPY_CACHE_DIR="$tools/mypy"
PRISM_BIN=$PWD/bin/prism
export PRISM_BIN
cd "$client"

if [ "$1" = write ]; then
	"$venv/bin/ruff" format -q .
	"$venv/bin/python" generate.py
	exit
fi
"$venv/bin/ruff" format --check -q .
"$venv/bin/ruff" check -q .
"$venv/bin/mypy" &
types=$!
rm -rf "$tools/dist"
"$venv/bin/python" -m build --no-isolation --outdir "$tools/dist" . >"$tools/build.log" 2>&1 || { cat "$tools/build.log" >&2; exit 1; }
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --no-index --force-reinstall "$tools"/dist/*.whl
"$venv/bin/python" -m pytest
wait "$types"
