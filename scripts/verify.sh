#!/bin/sh
# Checks that go.mod files are tidy.
set -eu
go=${GO:-go}
for module in . services/operator terraform-provider-prism test test/lab pkg/testkit/s3test/gateway; do
	echo "verify $module"
	(cd "$module" && GOWORK=off "$go" mod tidy -diff && GOWORK=off "$go" build ./... && GOWORK=off "$go" mod verify >/dev/null)
done
if grep -q '^replace' go.mod; then
	echo "go.mod has a replace line, with which 'go install .../cmd/prismctl@VERSION' is refused" >&2
	exit 1
fi
