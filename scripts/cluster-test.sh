#!/bin/sh
# Runs test/cluster against the current cluster of kubectl. test/cluster/doc.go lists the settings.
# PRISM_CLUSTER_TAG and PRISM_CLUSTER_NEXT_TAG, and PRISM_CLUSTER_REGISTRY if needed, name images that the nodes have or can pull.
# Without a tag, the images are built and pushed to KO_DOCKER_REPO, or loaded onto the nodes of a kind cluster: those of this source,
# those of the next release (test/internal/next), and those of PRISM_CLUSTER_PREVIOUS, from which is upgraded: the tag v1.0.0,
# unless this source is that release.
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
	services='prism-gateway prism-results prism-model-proxy prism-runs prism-console prism-webhooks prism-operator'
	# shellcheck disable=SC2086 # a list of names
	TAG=$PRISM_CLUSTER_TAG scripts/images.sh $services prism-cluster-load
	# The next release is this source with an overlay.
	export PRISM_CLUSTER_NEXT_TAG=$PRISM_CLUSTER_TAG-next
	overlay=$("${GO:-go}" run ./test/cluster/cmd/prism-next-overlay)
	config=$(mktemp -d)
	sed "s|^defaultFlags: .*|defaultFlags: [-trimpath, -overlay=$overlay]|" .ko.yaml >"$config/.ko.yaml"
	grep -q -- "-overlay=$overlay" "$config/.ko.yaml"
	# shellcheck disable=SC2086 # a list of names
	KO_CONFIG_PATH=$config TAG=$PRISM_CLUSTER_NEXT_TAG scripts/images.sh $services
	rm -r "$config"
	first=$(git rev-parse --quiet --verify 'v1.0.0^{commit}' || true)
	if [ "$first" != "$(git rev-parse HEAD)" ]; then
		PRISM_CLUSTER_PREVIOUS=${PRISM_CLUSTER_PREVIOUS:-$first}
	fi
	if [ -n "${PRISM_CLUSTER_PREVIOUS:-}" ]; then
		before=$(mktemp -d)
		trap 'git worktree remove --force "$before"' EXIT
		git worktree add --detach "$before" "$PRISM_CLUSTER_PREVIOUS"
		export PRISM_CLUSTER_PREVIOUS_TAG=$PRISM_CLUSTER_TAG-before PRISM_CLUSTER_PREVIOUS_CHART=$before/charts/prism
		# shellcheck disable=SC2086 # a list of names
		TAG=$PRISM_CLUSTER_PREVIOUS_TAG "$before/scripts/images.sh" $services
	fi
fi
# The operator alone, as the user of kubectl, with a Prism of this machine.
KUBECONFIG=${KUBECONFIG:-$HOME/.kube/config} "${GO:-go}" test -tags cluster -count=1 -v -timeout 20m -run OnAnAPIServer ./services/operator
"${GO:-go}" test -tags cluster -count=1 -v -timeout 100m ./test/cluster "$@"
