#!/bin/sh
# Prism for development in the current cluster of kubectl (KUBECONFIG and its current context):
#   cluster.sh up       creates namespace, Secrets, Postgres and Redis; without a current cluster, a kind cluster first
#   cluster.sh install  builds the images and installs or upgrades the chart
#   cluster.sh down     removes what up and install created
#
# NAMESPACE (prism) is the namespace; POD_SECURITY (restricted) is the standard that a new namespace enforces.
# VALUES (k8s/overlays/dev/values.yaml) and HELM_ARGS are passed to the chart.
# STORES=none leaves out Postgres and Redis; then you create them and the Secret prism-postgres.
# IMAGE_TAG, and IMAGE_REGISTRY if needed, name images that the nodes have or can pull. Without a tag, the images are built
# and pushed to KO_DOCKER_REPO, or loaded onto the nodes of a kind cluster.
set -eu
cd "$(dirname "$0")/.."
namespace=${NAMESPACE:-prism}
values=${VALUES:-k8s/overlays/dev/values.yaml}
kind_cluster=prism # k8s/kind.yaml
ours=app.kubernetes.io/managed-by=prism-cluster-up    # marks a namespace that up created
beside=app.kubernetes.io/part-of=prism-development # marks what up creates in it, as in k8s/stores/kustomization.yaml

fail() {
	echo "$*" >&2
	exit 1
}
need() {
	command -v "$1" >/dev/null 2>&1 || fail "$1 is not installed: $2"
}
need kubectl https://kubernetes.io/docs/tasks/tools/
context=$(kubectl config current-context 2>/dev/null || true)
k() { kubectl --namespace "$namespace" "$@"; }

# secret NAME KEY=VALUE...: creates the Secret unless it exists. An empty value becomes a random one.
secret() {
	name=$1
	shift
	if k get secret "$name" >/dev/null 2>&1; then return; fi
	{
		printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: %s, labels: {%s}}\nstringData:\n' "$name" "${beside%=*}: ${beside##*=}"
		for pair in "$@"; do
			value=${pair#*=}
			[ -n "$value" ] || value=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
			printf '  %s: "%s"\n' "${pair%%=*}" "$value"
		done
	} | k create -f - # not as arguments, which every user of this machine can read
}

up() {
	if [ -z "$context" ]; then
		need kind https://kind.sigs.k8s.io/docs/user/quick-start/#installation
		kind create cluster --config k8s/kind.yaml --wait 3m
		context=$(kubectl config current-context)
	fi
	echo "Cluster: $context, namespace: $namespace"
	if ! kubectl get namespace "$namespace" >/dev/null 2>&1; then
		sed -e "s/^  name: prism\$/  name: $namespace/" -e "s|/enforce: restricted\$|/enforce: ${POD_SECURITY:-restricted}|" \
			k8s/namespace/namespace.yaml | kubectl create -f -
		kubectl label namespace "$namespace" "$ours" >/dev/null
	fi
	secret prism-services results= model-proxy= console= sessions= deliveries=
	if [ "${STORES:-}" = none ]; then return; fi
	secret prism-postgres username=prism password=
	k apply -k k8s/stores
	k rollout status statefulset/postgres --timeout=5m
	k rollout status deployment/redis --timeout=5m
}

# images prints the arguments of helm that select the images.
images() {
	if [ -n "${IMAGE_TAG:-}" ]; then
		echo "--set-string image.registry=${IMAGE_REGISTRY:-},image.tag=$IMAGE_TAG"
		return
	fi
	case $context in kind-*)
		export KO_DOCKER_REPO="${KO_DOCKER_REPO:-kind.local}" KIND_CLUSTER_NAME="${context#kind-}"
		;;
	esac
	[ -n "${KO_DOCKER_REPO:-}" ] || fail "Set KO_DOCKER_REPO to a registry that $context pulls from, or IMAGE_TAG to the tag of images that it has."
	refs=$(scripts/images.sh prism-gateway prism-results prism-model-proxy prism-runs prism-console prism-webhooks prism-operator)
	for ref in $refs; do
		case $ref in
		*/prism-gateway[:@]*) key=gateway ;;
		*/prism-results[:@]*) key=results ;;
		*/prism-model-proxy[:@]*) key=modelProxy ;;
		*/prism-runs[:@]*) key=runs ;;
		*/prism-console[:@]*) key=console ;;
		*/prism-webhooks[:@]*) key=webhooks ;;
		*/prism-operator[:@]*) key=operator ;; # for HELM_ARGS='--set operator.enabled=true'
		*) fail "ko printed $ref" ;;
		esac
		echo "--set-string $key.image.registry=${ref%/*}"
		case $ref in
		*@*) echo "--set-string $key.image.digest=${ref#*@}" ;;
		*) echo "--set-string $key.image.tag=${ref##*:}" ;;
		esac
	done
}

install() {
	need helm https://helm.sh/docs/intro/install/
	[ -n "$context" ] || fail "kubectl has no current cluster; make cluster-up creates one."
	echo "Cluster: $context, namespace: $namespace"
	which=$(images)
	# shellcheck disable=SC2086 # arguments, none of which has a space
	helm upgrade --install prism charts/prism --namespace "$namespace" --values "$values" $which ${HELM_ARGS:-} --wait --timeout 10m
}

down() {
	[ -n "$context" ] || fail "kubectl has no current cluster."
	if [ "$context" = "kind-$kind_cluster" ]; then
		need kind https://kind.sigs.k8s.io/docs/user/quick-start/#installation
		exec kind delete cluster --name "$kind_cluster"
	fi
	need helm https://helm.sh/docs/intro/install/
	echo "Cluster: $context, namespace: $namespace"
	helm uninstall prism --namespace "$namespace" --ignore-not-found --wait
	if kubectl get namespace --selector "$ours" --output name | grep -qx "namespace/$namespace"; then
		kubectl delete namespace "$namespace" --wait
	else
		k delete --selector "$beside" statefulset,deployment,service,networkpolicy,persistentvolumeclaim,secret
		echo "Namespace $namespace was not created by cluster-up, so it stays."
	fi
}

case ${1:-} in
up | install | down) "$1" ;;
*) fail "usage: cluster.sh up|install|down" ;;
esac
