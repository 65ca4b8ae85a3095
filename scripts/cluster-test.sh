#!/bin/sh
# Runs test/cluster against the current cluster of kubectl. test/cluster/doc.go lists the settings.
# PRISM_CLUSTER_TAG, and PRISM_CLUSTER_REGISTRY if needed, name images that the nodes have or can pull. Without a tag, the images
# are built and pushed to KO_DOCKER_REPO, or loaded onto the nodes of a kind cluster; with PRISM_CLUSTER_PREVIOUS those of that
# commit too, from which is upgraded.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${PRISM_CLUSTER_TAG:-}" ]; then
	context=$(kubectl config current-context)
	case $context in kind-*)
		export KO_DOCKER_REPO="${KO_DOCKER_REPO:-kind.local}" KIND_CLUSTER_NAME="${context#kind-}"
		;;
	esac
	if [ -z "${KO_DOCKER_REPO:-}" ]; then
		echo "Set KO_DOCKER_REPO to a registry that $context pulls from, or PRISM_CLUSTER_TAG to the tag of images that it has." >&2
		exit 1
	fi
	# A new tag each time: a node does not pull an image that it has.
	PRISM_CLUSTER_REGISTRY=$KO_DOCKER_REPO
	PRISM_CLUSTER_TAG=test-$(date -u +%Y%m%d%H%M%S)
	export PRISM_CLUSTER_REGISTRY PRISM_CLUSTER_TAG
	services='prism-gateway prism-results prism-model-proxy prism-runs prism-console'
	# shellcheck disable=SC2086 # a list of names
	TAG=$PRISM_CLUSTER_TAG scripts/images.sh $services prism-cluster-load
	if [ -n "${PRISM_CLUSTER_PREVIOUS:-}" ]; then
		before=$(mktemp -d)
		trap 'git worktree remove --force "$before"' EXIT
		git worktree add --detach "$before" "$PRISM_CLUSTER_PREVIOUS"
		export PRISM_CLUSTER_PREVIOUS_TAG=$PRISM_CLUSTER_TAG-before PRISM_CLUSTER_PREVIOUS_CHART=$before/charts/prism
		for service in $services; do # those that it has
			[ ! -d "$before/services/${service#prism-}" ] || TAG=$PRISM_CLUSTER_PREVIOUS_TAG "$before/scripts/images.sh" "$service"
		done
	fi
fi
"${GO:-go}" test -tags cluster -count=1 -v -timeout 100m ./test/cluster "$@"
