#!/bin/sh
# Runs each fuzz test for a duration, and fails at the end if one failed: fuzz.sh 30s
set -eu
time=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz NAME PACKAGE: Go's fuzzer sometimes reports the end of its own time as a failure, without a failing input. Then the
# test is run once more.
fuzz() {
	for try in 1 2; do
		# Minimizing an interesting input takes longer than finding the next one.
		if "${GO:-go}" test -run '^$' -fuzz "^$1\$" -fuzztime "$time" -fuzzminimizetime 10x "$2" >"$log" 2>&1; then
			tail -n 3 "$log"
			return 0
		fi
		if [ "$try" = 2 ] || grep -q 'Failing input' "$log" || ! grep -q 'context deadline exceeded' "$log"; then
			cat "$log"
			return 1
		fi
	done
}

grep -rlE '^func Fuzz' --include='*_test.go' . | sort | {
	failed=
	while read -r file; do
		for name in $(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$file"); do
			echo "fuzz $(dirname "$file") $name"
			fuzz "$name" "$(dirname "$file")" || failed="$failed $name"
		done
	done
	[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
}
