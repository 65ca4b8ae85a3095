// Package cluster proves on a real cluster that no caller of Prism notices a rollout, an upgrade from 1.0.0 and one to the next release,
// a rollback, a scaling, the end of a Pod, or new tokens and certificates between the services, that file runs lose nothing by them, and
// that people stay signed in to the console. That nobody notices an account that moves between two databases while Pods are replaced. And that custom resources become what they say, whatever happens to the operator meanwhile: once,
// and without a lost key. A case runs alone, as with -run 'TestCluster/mutual' or -run 'TestOperator/killed'.
//
// Its test needs the build tag `cluster`, and kubectl and helm for the current context: kind on a laptop, or any other. It
// makes a namespace of its own, in which Pod Security `restricted` is enforced, gives it Postgres and Redis, installs
// charts/prism, and runs the image prism-cluster-load in it, twice:
//
//	load ──▶ Service of the gateway ──▶ gateway ──▶ results ──▶ Postgres
//	                                        └─────▶ model-proxy ──▶ model (prism-cluster-load as well)
//
// The cases of the operator take the manifests of docs/gitops.md, each into another namespace, and call the API by kubectl port-forward. The
// custom resources of the cluster become those of this source, and go at the end if they were not there.
//
// The load (test/internal/load) calls while the test disturbs the release, and reports at its end. The tests of
// the load need no cluster and prove that the load finds every kind of wrong response.
//
// The settings are environment variables:
//
//	PRISM_CLUSTER_REGISTRY      registry and path of the images; none when empty
//	PRISM_CLUSTER_TAG           their tag (dev)
//	PRISM_CLUSTER_NEXT_TAG      the tag of images of the next release (test/internal/next); needed with PRISM_CLUSTER_TAG
//	PRISM_CLUSTER_PREVIOUS      a commit, v1.0.0 when empty: scripts/cluster-test.sh builds its images beside those of this source, so
//	                            that upgrades go through the migrations between them; not with PRISM_CLUSTER_TAG
//	PRISM_CLUSTER_PREVIOUS_TAG  the tag to upgrade from and roll back to; the same when empty, with other settings
//	PRISM_CLUSTER_PREVIOUS_CHART the folder of the chart of that tag; charts/prism when empty
//	PRISM_CLUSTER_STORES        a shell command that brings Postgres and Redis into the namespace $NAMESPACE (k8s/stores): Postgres with
//	                            wal_level=logical and the databases prism and second, whose owner prism is a superuser
//	PRISM_CLUSTER_POSTGRES_URL  where Postgres is (that of k8s/stores)
//	PRISM_CLUSTER_REDIS_URL     where Redis is (redis://redis:6379/0)
//	PRISM_CLUSTER_VALUES        a file of further values for the chart
//	PRISM_CLUSTER_REQUESTS      how many requests a rolling upgrade has to outlast (10000)
//	PRISM_CLUSTER_KEEP          leaves the namespace when it is not empty
package cluster
