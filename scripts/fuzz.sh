#!/bin/sh
# Runs each fuzz test for a duration, as many at a time as there are processors, and fails at the end if one failed: fuzz.sh 30s
set -eu
time=$1

if [ $# -eq 1 ]; then
	grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort |
		sed -E 's|^(.*)/[^/]*:func (.*)|\1 \2|' | xargs -n 2 -P "$(nproc)" "$0" "$time"
	exit
fi

# One of them. Go's fuzzer sometimes reports the end of its own time as a failure, without a failing input. Then the test is
# run once more.
package=$2 name=$3
for try in 1 2; do
	# Minimizing an interesting input takes longer than finding the next one.
	if log=$("${GO:-go}" test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x -parallel 1 "$package" 2>&1); then
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
