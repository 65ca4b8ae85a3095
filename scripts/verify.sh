#!/bin/sh
# Checks that generated code is fresh and that go.mod files are tidy: verify.sh SQLC_VERSION
set -eu
go=${GO:-go}
(cd services/results && "$go" run "github.com/sqlc-dev/sqlc/cmd/sqlc@$1" diff)
for module in . test; do
	echo "verify $module"
	(cd "$module" && GOWORK=off "$go" mod tidy -diff && GOWORK=off "$go" build ./... && GOWORK=off "$go" mod verify >/dev/null)
done
if grep -q '^replace' go.mod; then
	echo "go.mod has a replace line, with which 'go install .../cmd/prismctl@VERSION' is refused" >&2
	exit 1
fi
