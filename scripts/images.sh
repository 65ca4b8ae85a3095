#!/bin/sh
# Builds the images with ko, for each platform, with labels, an SBOM and a statement of provenance, and prints the reference of
# each:
#   images.sh [NAME...]     prism, prism-gateway, prism-results, prism-model-proxy, prism-runs, prism-console,
#                       prism-webhooks and prism-operator; all without arguments
# KO_DOCKER_REPO is the destination: registry.example.com/prism, or kind.local for the nodes of a kind cluster.
# BASE is the base image: `empty` for the one of build/base, or a reference; .ko.yaml has the default.
# BUILDER is the URI of who builds, for the provenance; a build that nobody vouches for is one of this script.
# TAG and PLATFORMS can be set too.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${KO_DOCKER_REPO:-}" ]; then
	echo "KO_DOCKER_REPO is required: the registry and path that images are pushed to, such as registry.example.com/prism, or kind.local." >&2
	exit 1
fi
go=${GO:-go}
# The time and name of the commit, so that builds of the same commit are identical. Outside of git there are none.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
version=${version#v} # the tag v1.0.0 is of the images 1.0.0, as the chart names them
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
case $version in *-dirty) revision=$revision-dirty ;; esac # no commit has this source
source=https://github.com/prism-results/prism
export SOURCE_DATE_EPOCH

case ${BASE:-} in
'') ;;
empty)
	case $KO_DOCKER_REPO in kind.local* | ko.local*)
		echo "BASE=empty needs a registry for the base image; $KO_DOCKER_REPO is none." >&2
		exit 1
		;;
	esac
	KO_DEFAULTBASEIMAGE=$("$go" run ./build/base "$KO_DOCKER_REPO/base")
	export KO_DEFAULTBASEIMAGE
	;;
*) export KO_DEFAULTBASEIMAGE="$BASE" ;;
esac
if [ -z "${PLATFORMS:-}" ]; then
	case $KO_DOCKER_REPO in
	kind.local* | ko.local*) PLATFORMS=linux/$("$go" env GOARCH) ;; # local images have one platform
	*) PLATFORMS=linux/amd64,linux/arm64 ;;
	esac
fi

refs=
[ $# -gt 0 ] || set -- prism prism-gateway prism-results prism-model-proxy prism-runs prism-console prism-webhooks prism-operator
for name in "$@"; do
	case $name in
	prism) main=./cmd/prism ;;
	prism-gateway | prism-results | prism-model-proxy | prism-runs | prism-console | prism-webhooks | prism-operator) main=./services/${name#prism-}/cmd/$name ;;
	prism-cluster-load) main=./test/cluster/cmd/$name ;; # for make cluster-test
	*)
		echo "There is no image $name." >&2
		exit 1
		;;
	esac
	label=org.opencontainers.image
	# shellcheck disable=SC2086 # KO is a command and its arguments
	ref=$(${KO:?the command that is ko} build --base-import-paths --platform "$PLATFORMS" --tags "${TAG:-$version}" --sbom spdx \
		--image-label "$label.title=$name" \
		--image-label "$label.source=$source" \
		--image-label "$label.licenses=Apache-2.0" \
		--image-label "$label.version=$version" \
		--image-label "$label.revision=$revision" \
		"$main")
	refs="$refs $ref"
	echo "$ref"
done
case $KO_DOCKER_REPO in kind.local* | ko.local*) exit ;; esac # no registry
# shellcheck disable=SC2086 # a list of references
"$go" run ./build/provenance attach -source "git+$source" -revision "$revision" \
	-builder "${BUILDER:-$source/blob/main/scripts/images.sh}" $refs
