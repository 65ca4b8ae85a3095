package chart

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// speaks is what a service's Pod says of TLS: the addresses it calls, its mode, and the Secret in the folder that it reads.
func speaks(t *testing.T, r rendering, name string) string {
	t.Helper()
	o := workload(t, r, name)
	c := container(t, o)
	env := environment(*c)
	var said []string
	for _, variable := range []string{"PRISM_RESULTS_URL", "PRISM_MODEL_PROXY_URL", "PRISM_CONSOLE_URL"} {
		if scheme, _, ok := strings.Cut(env[variable], "://"); ok {
			said = append(said, scheme)
		}
	}
	said = append(said, env["PRISM_INTERNAL_TLS_MODE"])
	for _, m := range c.VolumeMounts {
		if m.MountPath != env["PRISM_INTERNAL_TLS_DIR"] {
			continue
		}
		for _, v := range o.template.Spec.Volumes {
			// A mount with subPath would never see a new certificate.
			if v.Name == m.Name && v.Secret != nil && m.ReadOnly && m.SubPath == "" && v.Secret.Items == nil {
				said = append(said, v.Secret.SecretName)
			}
		}
	}
	return strings.Join(said, " ")
}

// Each upgrade to the next stage has old and new Pods side by side: what new Pods call with, old ones must take, and the other
// way round.
//
// spec: internal-tls-modes
//
//nolint:dupword // the schemes of two addresses
func TestStagesOfInternalTLSFollowEachOtherWithoutAGap(t *testing.T) {
	t.Parallel()
	const secrets = `gateway: {existingSecret: g}, runs: {existingSecret: w}, results: {existingSecret: r}, modelProxy: {existingSecret: m}, console: {existingSecret: c}, webhooks: {existingSecret: h}`
	for values, want := range map[string][5]string{ // gateway, results, model-proxy, runs, console
		`{}`: {"http http http ", "", "", "http http ", "http "},
		`internalTLS: {enabled: true, stage: offer, ` + secrets + `}`: {"http http http ", "permissive r", "permissive m", "http http ", "http permissive c"},
		`internalTLS: {enabled: true, stage: use, ` + secrets + `}`:   {"https https https  g", "permissive r", "permissive m", "https https  w", "https permissive c"},
		`internalTLS: {enabled: true, ` + secrets + `}`:               {"https https https  g", " r", " m", "https https  w", "https  c"},
	} {
		r := render(t, with(t, values))
		got := [5]string{speaks(t, r, "gateway"), speaks(t, r, "results"), speaks(t, r, "model-proxy"), speaks(t, r, "runs"), speaks(t, r, "console")}
		if got != want {
			t.Errorf("%s: got %q, want %q", values, got, want)
		}
		for _, o := range of[appsv1.Deployment](r) {
			for _, p := range []*corev1.Probe{container(t, o.object).ReadinessProbe, container(t, o.object).LivenessProbe} {
				if p.HTTPGet.Scheme != "" && p.HTTPGet.Scheme != corev1.URISchemeHTTP || p.HTTPGet.Port.StrVal != "admin" {
					t.Errorf("%s is probed at %+v", o.what, p.HTTPGet)
				}
			}
		}
	}
}

// spec: internal-tls
func TestCertManagerIsAskedForOneCertificateOfEachService(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `internalTLS: {enabled: true, certManager: {enabled: true, duration: 48h, renewBefore: 16h, issuerRef: {name: ca, kind: ClusterIssuer}}}`))
	if n := len(of[certificate](r)); n != 6 {
		t.Errorf("%d certificates", n)
	}
	for name, usage := range map[string]string{"gateway": "client auth", "runs": "client auth", "webhooks": "client auth", "results": "server auth", "model-proxy": "server auth", "console": "server auth,client auth"} {
		c := one[certificate](t, r, "prism-"+name+"-tls")
		host := "prism-" + name
		if !slices.Equal(c.Spec.DNSNames, []string{host, host + ".prism", host + ".prism.svc"}) || strings.Join(c.Spec.Usages, ",") != "digital signature,"+usage {
			t.Errorf("%s: %q for %q", name, c.Spec.DNSNames, c.Spec.Usages)
		}
		if c.Spec.Duration.Duration != 48*time.Hour || c.Spec.RenewBefore.Duration != 16*time.Hour || c.Spec.IssuerRef.Name != "ca" || c.Spec.IssuerRef.Kind != "ClusterIssuer" {
			t.Errorf("%s: %+v", name, c.Spec)
		}
		if !strings.HasSuffix(speaks(t, r, name), " "+c.Spec.SecretName) {
			t.Errorf("%s mounts another Secret than %s: %q", name, c.Spec.SecretName, speaks(t, r, name))
		}
	}
	// A client checks the name of the address that it calls.
	for _, name := range []string{"gateway", "runs"} {
		env := environment(*container(t, workload(t, r, name)))
		if env["PRISM_RESULTS_URL"] != "https://prism-results:8081" || env["PRISM_MODEL_PROXY_URL"] != "https://prism-model-proxy:8082" {
			t.Errorf("%s calls %s and %s", name, env["PRISM_RESULTS_URL"], env["PRISM_MODEL_PROXY_URL"])
		}
	}
}
