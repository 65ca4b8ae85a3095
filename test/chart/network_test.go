package chart

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// place is one end of a connection: a Pod somewhere, or an address outside.
type place struct {
	name      string
	namespace string // of a Pod
	labels    labels.Set
	address   string
	workload  *object // of the release
}

func placeOf(o object) place {
	return place{name: component(o), namespace: namespace, labels: o.template.Labels, address: "10.1.2.3", workload: &o}
}

// lets decides as the network of a cluster does: both ends must allow a connection. A Pod that no policy selects allows all.
func lets(t *testing.T, r rendering, from, to place, protocol corev1.Protocol, port int32) bool {
	t.Helper()
	return side(t, r, from, to, to, networkingv1.PolicyTypeEgress, protocol, port) &&
		side(t, r, to, from, to, networkingv1.PolicyTypeIngress, protocol, port)
}

// side is what the policies of one end say about the other.
func side(t *testing.T, r rendering, this, other, server place, direction networkingv1.PolicyType, protocol corev1.Protocol, port int32) bool {
	t.Helper()
	free := true
	for _, o := range of[networkingv1.NetworkPolicy](r) {
		if this.namespace != namespace || !slices.Contains(o.it.Spec.PolicyTypes, direction) ||
			!selectorOf(t, &o.it.Spec.PodSelector).Matches(this.labels) {
			continue
		}
		free = false
		if direction == networkingv1.PolicyTypeIngress {
			for _, rule := range o.it.Spec.Ingress {
				if onPort(rule.Ports, server, protocol, port) && atPeer(t, rule.From, other) {
					return true
				}
			}
			continue
		}
		for _, rule := range o.it.Spec.Egress {
			if onPort(rule.Ports, server, protocol, port) && atPeer(t, rule.To, other) {
				return true
			}
		}
	}
	return free
}

func onPort(ports []networkingv1.NetworkPolicyPort, server place, protocol corev1.Protocol, port int32) bool {
	if len(ports) == 0 {
		return true
	}
	return slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		if p.Port == nil { // every port
			return p.Protocol == nil || *p.Protocol == protocol
		}
		number := p.Port.IntVal
		if p.Port.Type == intstr.String {
			if server.workload == nil {
				return false
			}
			number, _ = portOf(*server.workload, *p.Port)
		}
		return number == port && (p.Protocol == nil || *p.Protocol == protocol)
	})
}

func atPeer(t *testing.T, peers []networkingv1.NetworkPolicyPeer, other place) bool {
	t.Helper()
	if len(peers) == 0 {
		return true
	}
	return slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool {
		if p.IPBlock != nil {
			address := netip.MustParseAddr(other.address)
			in := func(cidr string) bool { return netip.MustParsePrefix(cidr).Contains(address) }
			return in(p.IPBlock.CIDR) && !slices.ContainsFunc(p.IPBlock.Except, in)
		}
		if other.namespace == "" {
			return false
		}
		near := other.namespace == namespace
		if p.NamespaceSelector != nil {
			near = selectorOf(t, p.NamespaceSelector).Matches(labels.Set{"kubernetes.io/metadata.name": other.namespace})
		}
		return near && (p.PodSelector == nil || selectorOf(t, p.PodSelector).Matches(other.labels))
	})
}

// reachable follows the configured addresses of other services, and of external servers, through Services and policies.
func reachable(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range workloads(r) {
		calls(t, r, o)
	}
	for _, o := range workloads(r) {
		for name, c := range ours(o) {
			for variable, value := range environment(c) {
				for _, port := range outside(t, variable, value) {
					if !letsOut(r, o, port) {
						t.Errorf("%s has %s=%s, but is not let out to port %d", name, variable, value, port)
					}
				}
			}
		}
	}
}

// called are the services that a service always calls.
var called = map[string][]string{"gateway": {"results", "model-proxy"}, "runs": {"results", "model-proxy"}, "console": {"results"}, "webhooks": {"results"}, "operator": {"results"}}

// calls follows the addresses of other services from a workload that calls them.
func calls(t *testing.T, r rendering, from object) {
	t.Helper()
	env := environment(*container(t, from))
	for variable, target := range map[string]string{"PRISM_RESULTS_URL": "results", "PRISM_MODEL_PROXY_URL": "model-proxy", "PRISM_CONSOLE_URL": "console"} {
		if env[variable] == "" && !slices.Contains(called[component(from)], target) {
			continue
		}
		u, err := url.Parse(env[variable])
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%s=%s: %v", variable, env[variable], err)
			continue
		}
		service := one[corev1.Service](t, r, u.Hostname())
		found, pod := false, workload(t, r, target)
		for _, p := range service.Spec.Ports {
			if number, ok := portOf(pod, p.TargetPort); ok && strconv.Itoa(int(p.Port)) == u.Port() {
				found = service.Labels["app.kubernetes.io/component"] == target
				if !lets(t, r, placeOf(from), placeOf(pod), corev1.ProtocolTCP, number) {
					t.Errorf("%s is not let through to %s:%d", component(from), target, number)
				}
			}
		}
		if !found {
			t.Errorf("%s=%s is no port of %s", variable, env[variable], target)
		}
	}
}

// outside are the ports that a variable leads to, outside of the release.
func outside(t *testing.T, variable, value string) (ports []int32) {
	t.Helper()
	defaults := map[string]string{
		"PRISM_DATABASE_URL": "5432", "PRISM_REDIS_URL": "6379", "PRISM_MODEL_BASE_URL": "", "PRISM_FILES_URL": "443", "OTEL_EXPORTER_OTLP_ENDPOINT": "",
	}
	fallback, ok := defaults[variable]
	if !ok {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil {
		t.Errorf("%s=%s: %v", variable, value, err)
		return nil
	}
	if u.Scheme == "" { // in a Secret
		return []int32{number(t, fallback)}
	}
	if u.Scheme == "file" {
		return nil
	}
	if u.Scheme == "s3" {
		if u, err = url.Parse(u.Query().Get("endpoint")); err != nil {
			t.Errorf("%s=%s: %v", variable, value, err)
			return nil
		}
	}
	fallback = cmp.Or(map[string]string{"http": "80", "https": "443"}[u.Scheme], fallback)
	ports = append(ports, number(t, cmp.Or(u.Port(), fallback)))
	for _, address := range u.Query()["addr"] {
		ports = append(ports, number(t, address[strings.LastIndex(address, ":")+1:]))
	}
	if strings.Contains(u.Scheme, "+sentinel") {
		ports = append(ports, 6379) // the Redis that they point at
	}
	return ports
}

func number(t *testing.T, s string) int32 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		t.Error(err)
	}
	return int32(n)
}

// letsOut is whether a policy of the workload lets it out to a port at all, unless the user has named the ports.
func letsOut(r rendering, o object, port int32) bool {
	for _, p := range of[networkingv1.NetworkPolicy](r) {
		if component(p.object) != component(o) {
			continue
		}
		for _, rule := range p.it.Spec.Egress {
			if onPort(rule.Ports, place{}, corev1.ProtocolTCP, port) {
				return true
			}
		}
	}
	for _, store := range []string{"postgres", "redis", "files", "model", "traces"} {
		if lookUp(r.values, "networkPolicy."+store+".ports") != nil {
			return true
		}
	}
	return false
}

// Every connection that the policies let through, from and to everywhere, is one that Prism needs.
func TestPoliciesLetThroughWhatIsNeededAndNothingElse(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `
migrations: {mode: job}
tracing: {endpoint: "http://collector.observability:4318"}
files: {url: "s3://files?endpoint=http://minio.objects:9000"}
networkPolicy:
  files: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: objects}}}]}
  postgres: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: databases}}}]}
  redis: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: databases}}}]}
  traces: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: observability}}}]}
`))
	places := []place{
		{name: "neighbour", namespace: namespace, labels: labels.Set{"app": "other"}, address: "10.1.2.4"},
		{name: "stranger", namespace: "default", address: "10.1.2.5"},
		{name: "prometheus", namespace: "monitoring", address: "10.1.2.6"},
		{name: "store", namespace: "databases", address: "10.1.2.7"},
		{name: "objects", namespace: "objects", address: "10.1.2.10"},
		{name: "collector", namespace: "observability", address: "10.1.2.8"},
		{name: "dns", namespace: "kube-system", labels: labels.Set{"k8s-app": "kube-dns"}, address: "10.1.2.9"},
		{name: "apiserver", address: "10.96.0.1"},
		{name: "metadata", address: "169.254.169.254"},
		{name: "public", address: "203.0.113.7"},
		{name: "public6", address: "2001:db8::7"},
	}
	for _, o := range workloads(r) {
		places = append(places, placeOf(o))
	}
	var got []string
	ports := []int32{53, 80, 443, 4318, 5432, 6379, 8080, 8081, 8082, 8083, 9000, 9090, 9091, 9092, 9093, 9094, 9095}
	for _, from := range places {
		for _, to := range places {
			if from.workload == nil && to.workload == nil || from.name == to.name {
				continue
			}
			for _, port := range ports {
				if lets(t, r, from, to, corev1.ProtocolTCP, port) {
					got = append(got, fmt.Sprintf("%s > %s:%d", from.name, to.name, port))
				}
			}
			if lets(t, r, from, to, corev1.ProtocolUDP, 53) != (to.name == "dns") {
				t.Errorf("UDP 53 from %s to %s", from.name, to.name)
			}
		}
	}
	want := []string{
		"neighbour > gateway:8080", "stranger > gateway:8080", "prometheus > gateway:8080", "store > gateway:8080",
		"collector > gateway:8080", "dns > gateway:8080", "apiserver > gateway:8080", "metadata > gateway:8080",
		"objects > gateway:8080", "public > gateway:8080", "public6 > gateway:8080",
		"prometheus > gateway:9090", "prometheus > results:9091", "prometheus > model-proxy:9092",
		"gateway > results:8081", "gateway > model-proxy:8082", "gateway > store:6379",
		"prometheus > runs:9093", "runs > results:8081", "runs > model-proxy:8082", "runs > store:6379",
		"gateway > console:8083", "prometheus > console:9094", "console > results:8081", "console > dns:53", "console > collector:4318",
		"prometheus > webhooks:9095", "webhooks > results:8081", "webhooks > dns:53", "webhooks > collector:4318",
		"runs > dns:53", "runs > collector:4318", "results > objects:9000",
		"results > store:5432", "migrate > store:5432",
		"model-proxy > public:443", "model-proxy > public6:443",
		"gateway > dns:53", "results > dns:53", "model-proxy > dns:53", "migrate > dns:53",
		"gateway > collector:4318", "results > collector:4318", "model-proxy > collector:4318",
	}
	for _, port := range ports { // receivers of events have any
		want = append(want, fmt.Sprintf("webhooks > public:%d", port), fmt.Sprintf("webhooks > public6:%d", port))
	}
	slices.Sort(got)
	slices.Sort(want)
	for _, flow := range got {
		if !slices.Contains(want, flow) {
			t.Errorf("let through: %s", flow)
		}
	}
	for _, flow := range want {
		if !slices.Contains(got, flow) {
			t.Errorf("not let through: %s", flow)
		}
	}
}

func TestPoliciesKnowOnlyTheClientsAndMonitorsThatTheyAreTold(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `
networkPolicy:
  clients: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gateways}}}]}
  metrics: {namespace: ""}
`))
	ingress := place{namespace: "gateways", address: "10.1.2.3"}
	stranger := place{namespace: "default", address: "10.1.2.4"}
	gateway := placeOf(workload(t, r, "gateway"))
	if !lets(t, r, ingress, gateway, corev1.ProtocolTCP, 8080) || lets(t, r, stranger, gateway, corev1.ProtocolTCP, 8080) {
		t.Error("clients are not those of networkPolicy.clients")
	}
	if lets(t, r, place{namespace: "monitoring", address: "10.1.2.3"}, gateway, corev1.ProtocolTCP, 9090) {
		t.Error("somebody may look at metrics")
	}
}

func TestAnOfflineModelIsAskedNowhere(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, "model: {provider: offline, existingSecret: null}"))
	if lets(t, r, placeOf(workload(t, r, "model-proxy")), place{address: "203.0.113.7"}, corev1.ProtocolTCP, 443) {
		t.Error("model-proxy is let out")
	}
}

// spec: delivery-addresses
func TestEventsAreSentToTheNetworksThatAreAllowed(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `webhooks: {allow: [10.20.0.0/16, 192.168.1.7, "fd00::/8"]}`))
	w := workload(t, r, "webhooks")
	for address, want := range map[string]bool{
		"10.20.1.1": true, "10.21.1.1": false, "192.168.1.7": true, "192.168.1.8": false, "fd12::1": true, "fe80::1": false, "169.254.169.254": false, "8.8.8.8": true,
	} {
		if got := lets(t, r, placeOf(w), place{address: address}, corev1.ProtocolTCP, 8443); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if got := environment(*container(t, w))["PRISM_WEBHOOK_ALLOW"]; got != "10.20.0.0/16,192.168.1.7,fd00::/8" {
		t.Errorf("PRISM_WEBHOOK_ALLOW is %q", got)
	}
	anywhere := render(t, with(t, `{webhooks: {allow: [10.20.0.0/16]}, networkPolicy: {webhooks: {to: [], ports: [443]}}}`))
	for port, want := range map[int32]bool{443: true, 8443: false} {
		if got := lets(t, anywhere, placeOf(workload(t, anywhere, "webhooks")), place{address: "10.9.9.9"}, corev1.ProtocolTCP, port); got != want {
			t.Errorf("any peer, port %d: %v", port, got)
		}
	}
}

// Only what shows an identity instead of a password is let out to token servers, and knows the region.
func TestTokenServersAreReachedByWhatHasAnIdentity(t *testing.T) {
	t.Parallel()
	const (
		postgres = `postgres: {auth: KIND, host: db, username: u, existingSecret: ""}`
		redis    = `redis: {auth: KIND, tls: true, username: u}`
		models   = `{model: {provider: "", existingSecret: ""}, models: {default: m, list: [{name: m, provider: openai-chat, base_url: "https://m.example.com/v1", model: x, auth: {kind: KIND}}]}}`
		declared = `{operator: {enabled: true}, models: {declared: true, identities: [KIND]}}`
		store    = `files: {url: "s3://files"}`
	)
	metadata, gke, podIdentity, public := place{address: "169.254.169.254"}, place{address: "169.254.169.252"}, place{address: "169.254.170.23"}, place{address: "203.0.113.7"}
	for name, c := range map[string]struct {
		values, kind string
		have         []string // the components with the identity
	}{
		"Postgres at Google":         {postgres, "google", []string{"results"}},
		"Postgres at Azure, and Job": {postgres + "\nmigrations: {mode: job}", "azure", []string{"results", "migrate"}},
		"migrations alone":           {"migrations: {mode: job, postgres: {auth: KIND, host: db, username: u, existingSecret: \"\"}}", "aws", []string{"migrate"}},
		"Postgres at AWS":            {postgres, "aws", []string{"results"}},
		"Redis at AWS":               {strings.Replace(redis, "username: u", "username: u, awsCache: c", 1), "aws", []string{"gateway", "runs"}},
		"Redis at Azure":             {redis, "azure", []string{"gateway", "runs"}},
		"models at Google":           {models, "google", []string{"model-proxy"}},
		"declared models at AWS":     {declared, "aws", []string{"model-proxy"}},
		"an object store of AWS":     {store, "aws", []string{"results"}},
		"no identity":                {"", "aws", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, with(t, strings.ReplaceAll(c.values, "KIND", c.kind), "{identity: {awsRegion: eu-central-1}, networkPolicy: {identity: {to: [{ipBlock: {cidr: 203.0.113.0/24}}]}, model: {to: [{ipBlock: {cidr: 10.0.0.0/8}}]}}}"))
			for _, o := range workloads(r) {
				if component(o) == "webhooks" || component(o) == "operator" { // let out to 443 for other reasons
					continue
				}
				has, from := slices.Contains(c.have, component(o)), placeOf(o)
				want := map[string]bool{"metadata": has, "gke": has && c.kind == "google", "pod identity": has && c.kind == "aws", "public": has}
				got := map[string]bool{
					"metadata": lets(t, r, from, metadata, corev1.ProtocolTCP, 80), "gke": lets(t, r, from, gke, corev1.ProtocolTCP, 988),
					"pod identity": lets(t, r, from, podIdentity, corev1.ProtocolTCP, 80),
				}
				if c.values != store { // the object store itself is anywhere
					got["public"] = lets(t, r, from, public, corev1.ProtocolTCP, 443)
				} else {
					delete(want, "public")
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s is let out to %v, want %v", component(o), got, want)
				}
				for container, spec := range ours(o) {
					if region := environment(spec)["AWS_REGION"]; (region == "eu-central-1") != (has && c.kind == "aws") {
						t.Errorf("%s has AWS_REGION=%q", container, region)
					}
				}
			}
		})
	}
}
