#!/bin/sh
# Looks for known vulnerabilities: in Go's standard library and the modules, where shipped code reaches them (govulncheck), and
# in the packages of npm, those that only tests and tools use too (npm audit). No answer is an error, because it is not a good answer.
#   VULNDB   the database for Go: a URL, or file:///… of a copy; the folder data/osv of github.com/golang/vulndb is one
set -eu
cd "$(dirname "$0")/.."
db=${VULNDB:-https://vuln.go.dev}
failed=
fail() {
	echo "vulns: $*" >&2
	failed=1
}

for module in . services/operator terraform-provider-prism; do # what is shipped
	code=0
	(cd "$module" && GOWORK=off "${GOVULNCHECK:?the command that is govulncheck}" -db "$db" ./...) || code=$?
	case $code in
	0) ;;
	3) fail "the code of Prism reaches the vulnerabilities above" ;;
	*) fail "UNKNOWN for Go: govulncheck has no answer from $db. It needs this database, or VULNDB=file:///… of a copy of data/osv of github.com/golang/vulndb." ;;
	esac
done

for lock in $(find . \( -name node_modules -o -name .tools \) -prune -o -name package-lock.json -print | sort); do
	code=0 folder=$(dirname "${lock#./}")
	report=$(cd "$folder" && npm audit --package-lock-only --json) || code=$?
	case $report in
	*'"auditReportVersion"'*)
		[ "$code" = 0 ] || fail "$folder has packages with vulnerabilities; see 'npm audit' there"
		;;
	*) fail "UNKNOWN for $folder: npm audit has no answer from the registry of npm: $(echo "$report" | head -c 300)" ;;
	esac
done
[ -z "$failed" ]
