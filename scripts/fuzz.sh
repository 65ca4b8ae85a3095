#!/bin/sh
# Runs each fuzz test for a duration, as many at a time as there are processors, and fails at the end if one failed: fuzz.sh 30s
set -eu
time=$1

if [ $# -eq 1 ]; then
	bin=$(mktemp -d)
	trap 'rm -rf "$bin"' EXIT
	cache=$("${GO:-go}" env GOCACHE)/fuzz
	export CGO_ENABLED=0
	ours=$(sed -n 's/^module //p' go.mod)/...
	# Only Prism's own packages are instrumented: with all that a program is made of, as -fuzz does it, each execution compares the
	# counters of all and takes 25 times as long. A package is built once for all of its fuzz tests, while those of others run.
	grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort |
		sed -E 's|^(.*)/[^/]*:func (.*)|\1 \2|' | while read -r package name; do
		if [ "$package" != "${built-}" ]; then
			built=$package
			path=$("${GO:-go}" list "$package")
			program=$bin/$(echo "$path" | tr / _)
			# One that cannot be built fails below, since it is not there.
			"${GO:-go}" test -c -trimpath -vet=off -gcflags="$ours=-d=libfuzzer" -o "$program" "$package" || true
		fi
		echo "$package $name $program $cache/$path"
	done | xargs -n 4 -P "$(nproc)" "$0" "$time"
	exit
fi

# One of them. Go's fuzzer sometimes reports the end of its own time as a failure, without a failing input. Then the test is
# run once more.
package=$2 name=$3 program=$4 corpus=$5
cd "$package"
for try in 1 2; do
	# Minimizing an interesting input takes longer than finding the next one.
	if log=$("$program" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x \
		-test.fuzzcachedir "$corpus" -test.parallel 1 2>&1); then
		printf 'fuzz %s %s\n%s\n' "$package" "$name" "$(echo "$log" | tail -n 3)"
		exit 0
	fi
	case $try$log in
	2* | *'Failing input'*) break ;;
	*'context deadline exceeded'*) ;;
	*) break ;;
	esac
done
printf 'fuzz %s %s FAILED\n%s\n' "$package" "$name" "$log" >&2
exit 1
