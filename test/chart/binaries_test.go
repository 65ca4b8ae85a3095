package chart

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// binary is the path of a service's program, which has the name of its image.
func binary(t *testing.T, component string) string {
	t.Helper()
	path, err := program.Binary(t.Context(), "services/"+component+"/cmd/prism-"+component, program.TestFlags()...)
	if err != nil {
		t.Fatalf("%s: %v", component, err)
	}
	return path
}

var remembered sync.Map // of binary, arguments and environment to func() (string, error)

// said is the output of a binary that only reads its arguments and settings. Each command runs once.
func said(t *testing.T, component string, env map[string]string, args ...string) string {
	t.Helper()
	path := binary(t, component)
	ask, _ := remembered.LoadOrStore(fmt.Sprint(path, args, env), sync.OnceValues(func() (string, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
		defer cancel()
		p, err := program.Launch(program.Command{Path: path, Args: args, Env: env})
		if err != nil {
			return "", err
		}
		_, err = p.Wait(ctx) // wrong settings are an error on purpose
		return p.Output(), err
	}))
	out, err := ask.(func() (string, error))()
	if err != nil {
		t.Fatalf("prism-%s %q does not end: %v\n%s", component, args, err, out)
	}
	return out
}

var setting = regexp.MustCompile(`(?m)^  (PRISM_[A-Z_]+) +(\S+)`)

// settings are the variables that a binary's --help lists, with their defaults.
func settings(t *testing.T, component string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, match := range setting.FindAllStringSubmatch(said(t, component, nil, "--help"), -1) {
		all[match[1]] = match[2]
	}
	if len(all) < 8 {
		t.Fatalf("prism-%s lists %d settings", component, len(all))
	}
	return all
}

// process are the variables that Go, the Postgres driver, the client of S3 and OpenTelemetry read, and the variables in their
// values.
var process = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
	"SSL_CERT_DIR", "PGUSER", "PGPASSWORD", "POD_NAME", "POD_NAMESPACE",
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_RESOURCE_ATTRIBUTES",
}

// secrets are what may be in a Secret.
var secrets = map[string]string{
	"PRISM_DATABASE_URL": "postgres://user:password@postgres:5432/prism?sslmode=verify-full",
	"PRISM_REDIS_URL":    "rediss://user:password@redis:6379/0",
}

// understood checks that the binaries accept every variable of their containers, by name and by form of the value.
func understood(t *testing.T, r rendering) {
	t.Helper()
	for _, o := range workloads(r) {
		for name, c := range ours(o) {
			told(t, o, name, c)
		}
	}
}

func told(t *testing.T, o object, name string, c corev1.Container) {
	t.Helper()
	service := component(o)
	// A setting that is wrong for certain: a binary then names all that are, and ends.
	wrong := "PRISM_LOG_LEVEL"
	if c.Name == "migrate" {
		service, wrong = "results", "PRISM_DATABASE_MAX_CONNS"
		if !slices.Equal(c.Args, []string{"migrate"}) {
			t.Errorf("%s is started as %q", name, c.Args)
		}
	} else if len(c.Args) > 0 || len(c.Command) > 0 {
		t.Errorf("%s is started as %q %q", name, c.Command, c.Args)
	}
	env := map[string]string{wrong: "nonsense"}
	known := settings(t, service)
	for variable, value := range environment(c) {
		if secret := c.Env[slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == variable })].ValueFrom; secret != nil {
			value = secrets[variable]
			if value == "" {
				value = strings.Repeat("s", 48)
			}
		}
		switch {
		case variable == wrong:
		case strings.HasPrefix(variable, "PRISM_"):
			if known[variable] == "" {
				t.Errorf("%s is told %s, which prism-%s does not know", name, variable, service)
			}
			env[variable] = value
		case slices.Contains(process, variable):
		case variable != "A": // the matrix' own
			t.Errorf("%s is told %s, which nobody knows", name, variable)
		}
	}
	out := said(t, service, env, c.Args...)
	problems := problem.FindAllStringSubmatch(out, -1)
	if len(problems) != 1 || problems[0][1] != wrong {
		t.Errorf("%s: prism-%s with %q says\n%s", name, service, env, out)
	}
}

var problem = regexp.MustCompile(`(?m)^  (PRISM_[A-Z_]+): `)

func TestPortsAreThoseOfTheBinaries(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, "operator: {enabled: true}"))
	for _, name := range []string{"gateway", "results", "model-proxy", "runs", "console", "webhooks", "operator"} {
		c := container(t, workload(t, r, name))
		env, help := environment(*c), settings(t, name)
		for port, variable := range map[string]string{"http": "PRISM_LISTEN", "admin": "PRISM_ADMIN_LISTEN"} {
			if help[variable] == "" && port == "http" && (name == "runs" || name == "webhooks" || name == "operator") && len(c.Ports) == 1 { // nobody calls a worker
				continue
			}
			i := slices.IndexFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port })
			if i < 0 {
				t.Fatalf("%s has no port %s", name, port)
			}
			_, fallback, _ := strings.Cut(help[variable], ":")
			if got := number(t, strings.TrimPrefix(env[variable], ":")); got != c.Ports[i].ContainerPort || got != number(t, fallback) {
				t.Errorf("%s: %s=%s, port %s is %d, the default is %s", name, variable, env[variable], port, c.Ports[i].ContainerPort, help[variable])
			}
		}
	}
}

// Probes ask the admin port. The end-to-end tests hold what its paths answer.
func TestProbesAskTheAdminPort(t *testing.T) {
	t.Parallel()
	for _, o := range workloads(render(t, with(t))) {
		c := container(t, o)
		for path, probe := range map[string]*corev1.Probe{"/healthz": c.StartupProbe, "/readyz": c.ReadinessProbe} {
			if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "admin" {
				t.Errorf("%s is asked %s on port %s", o.what, probe.HTTPGet.Path, probe.HTTPGet.Port.String())
			}
		}
		if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.LivenessProbe.HTTPGet.Port.StrVal != "admin" {
			t.Errorf("%s is asked %s whether it lives", o.what, c.LivenessProbe.HTTPGet.Path)
		}
	}
}

// Every setting of the binaries can be set through the chart.
func TestEverySettingHasAPlaceInTheValues(t *testing.T) {
	t.Parallel()
	several := environment(*container(t, workload(t, render(t, with(t, severalModels)), "model-proxy")))
	identities := render(t, with(t, `{operator: {enabled: true}, models: {declared: true}, postgres: {auth: aws, existingSecret: "", username: u}, redis: {auth: aws, tls: true, username: u, awsCache: c}}`))
	r := render(t, with(t, `
migrations: {mode: job}
defaults: {maxInFlight: 1, maxConnections: 1, maxBodyBytes: 1MiB, maxResponseBytes: 1MiB}
gateway: {trustedProxies: [10.0.0.0/8, "fd00::1"]}
webhooks: {allow: [10.0.0.0/8]}
operator: {enabled: true, namespaces: [team-a]}
redis: {mode: sentinel, existingSecret: r, usernameKey: u, passwordKey: p, sentinelPasswordKey: s}
model: {baseURL: "https://models.example.com", name: m}
results: {synchronousCommit: "on"}
postgres: {layout: citus}
files: {url: "s3://files", existingSecret: f}
tokens: {results: {existingSecret: r}, modelProxy: {existingSecret: m}, console: {existingSecret: c}, sessions: {existingSecret: s}, deliveries: {existingSecret: d}, operator: {existingSecret: o}}
upstreamProxy: {url: "http://proxy.internal:3128", except: .internal}
publicURL: https://prism.example.com
openid: {issuer: "https://login.example.com", clientID: prism, existingSecret: o}
internalTLS: {enabled: true, stage: use, gateway: {existingSecret: g}, runs: {existingSecret: w}, results: {existingSecret: r}, modelProxy: {existingSecret: m}, console: {existingSecret: c}, webhooks: {existingSecret: h}, operator: {existingSecret: k}}
`))
	for _, o := range of[appsv1.Deployment](r) {
		set := environment(*container(t, o.object))
		maps.Copy(set, environment(*container(t, workload(t, identities, component(o.object)))))
		for variable := range settings(t, component(o.object)) {
			if _, ok := several[variable]; ok && component(o.object) == "model-proxy" { // instead of the one model
				continue
			}
			// Secrets come from Secrets in variables. extraEnv can name a file on a volume of one's own.
			if _, ok := set[variable]; !ok && (!strings.HasSuffix(variable, "_FILE") || variable == "PRISM_MODELS_FILE") {
				t.Errorf("no value sets %s of %s", variable, component(o.object))
			}
		}
	}
}
