package operator

import "time"

// Config is what differs between deployments.
type Config struct {
	// Release is the name of the release. Its ConfigMaps begin with it, and so does the lease of the leader.
	Release string
	// Namespace is the release's.
	Namespace string
	// Namespaces are those whose objects count, beside the release's. Empty: all.
	Namespaces []string
	// Resync is how often an object is compared with Prism when nothing tells of a change.
	Resync time.Duration
	// URL is where the public API is, as it is written into Secrets.
	URL string
	// ModelProxies is a host that has the addresses of all Pods of model-proxy, and their admin port. Empty: they are not asked.
	ModelProxies string
}
