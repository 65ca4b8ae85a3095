package chart

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// secretsOf are the Secrets with a token that a cluster has.
func secretsOf(key, token string, names ...string) cluster {
	c := cluster{}
	for _, name := range names {
		data := map[string]any{key: base64.StdEncoding.EncodeToString([]byte(token))}
		c["v1 Secret "+name] = map[string]any{"apiVersion": "v1", "kind": "Secret", "data": data}
	}
	return c
}

func TestDefaultRendering(t *testing.T) {
	t.Parallel()
	r := installation{chart: theChart(t), release: "prism", cluster: secretsOf("token", "made before",
		"prism-results-token", "prism-model-proxy-token", "prism-console-token", "prism-sessions-token", "prism-deliveries-token")}.render(t, with(t))
	var got strings.Builder
	got.WriteString("# What the least values make: go test -run TestDefaultRendering -update\n")
	for _, o := range r.objects {
		got.WriteString("---\n" + o.text + "\n")
	}
	got.WriteString("--- # NOTES.txt\n" + r.notes)
	golden := filepath.Join("testdata", "default.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(readFile(t, golden), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s:%d: got %q; if that is meant, -update writes it", golden, i+1, line)
		}
	}
	if got := strings.Count(got.String(), "\n") + 1; got != len(want) {
		t.Errorf("%s has %d lines, want %d; if that is meant, -update writes it", golden, len(want), got)
	}
}

// Where every secret comes from, when no name and no key is the default.
func TestSecretsAndKeysAreThoseOfTheValues(t *testing.T) {
	t.Parallel()
	base := `
postgres: {existingSecret: pg, usernameKey: pg-user, passwordKey: pg-pass}
migrations: {mode: job, postgres: {existingSecret: owner, usernameKey: o-user, passwordKey: o-pass}}
redis: {mode: sentinel, existingSecret: rd, usernameKey: rd-user, passwordKey: rd-pass, sentinelPasswordKey: rd-sentinel}
model: {existingSecret: md, apiKeyKey: md-key}
files: {url: "s3://files", existingSecret: s3, accessKeyKey: id, secretKeyKey: secret}
tokens: {results: {existingSecret: rt, key: rt-key}, modelProxy: {existingSecret: mt, key: mt-key}, console: {existingSecret: ct, key: ct-key}, sessions: {existingSecret: st, key: st-key}, deliveries: {existingSecret: dt, key: dt-key}}
publicURL: https://prism.example.com
openid: {issuer: "https://login.example.com", clientID: prism, existingSecret: oi, clientSecretKey: oi-key}
tracing: {endpoint: "http://collector:4318", existingSecret: tr, headersKey: tr-headers}
`
	const tracing, resultsToken, modelsToken = "OTEL_EXPORTER_OTLP_HEADERS tr/tr-headers", "PRISM_RESULTS_TOKEN rt/rt-key", "PRISM_MODEL_PROXY_TOKEN mt/mt-key"
	const consoleToken, sessionsToken, deliveriesToken = "PRISM_CONSOLE_TOKEN ct/ct-key", "PRISM_RESULTS_CONSOLE_TOKEN st/st-key", "PRISM_RESULTS_WEBHOOKS_TOKEN dt/dt-key"
	console := []string{tracing, consoleToken, sessionsToken, "PRISM_OPENID_CLIENT_SECRET oi/oi-key"}
	urls := strings.NewReplacer(
		"postgres: {existingSecret: pg,", `postgres: {host: "", existingSecret: pg, urlKey: pg-url,`,
		"{existingSecret: owner,", "{existingSecret: owner, urlKey: o-url,",
		"redis: {mode: sentinel, existingSecret: rd, usernameKey: rd-user, passwordKey: rd-pass, sentinelPasswordKey: rd-sentinel}",
		"redis: {addresses: [], existingSecret: rd, urlKey: rd-url}").Replace(base)
	model := []string{"PRISM_MODEL_API_KEY md/md-key", tracing, modelsToken}
	for name, c := range map[string]struct {
		values string
		want   map[string][]string
	}{
		"each alone": {base, map[string][]string{
			"gateway":     append([]string{"PRISM_REDIS_PASSWORD rd/rd-pass", "PRISM_REDIS_SENTINEL_PASSWORD rd/rd-sentinel", "PRISM_REDIS_USERNAME rd/rd-user"}, tracing, resultsToken, modelsToken, consoleToken),
			"results":     append([]string{"PGPASSWORD pg/pg-pass", "PGUSER pg/pg-user"}, tracing, resultsToken, sessionsToken, deliveriesToken, "AWS_ACCESS_KEY_ID s3/id", "AWS_SECRET_ACCESS_KEY s3/secret"),
			"runs":        append([]string{"PRISM_REDIS_PASSWORD rd/rd-pass", "PRISM_REDIS_SENTINEL_PASSWORD rd/rd-sentinel", "PRISM_REDIS_USERNAME rd/rd-user"}, tracing, resultsToken, modelsToken),
			"model-proxy": model,
			"console":     console,
			"webhooks":    {tracing, deliveriesToken},
			"migrate":     {"PGPASSWORD owner/o-pass", "PGUSER owner/o-user"},
		}},
		"URLs": {urls, map[string][]string{
			"gateway":     append([]string{"PRISM_REDIS_URL rd/rd-url"}, tracing, resultsToken, modelsToken, consoleToken),
			"results":     append([]string{"PRISM_DATABASE_URL pg/pg-url"}, tracing, resultsToken, sessionsToken, deliveriesToken, "AWS_ACCESS_KEY_ID s3/id", "AWS_SECRET_ACCESS_KEY s3/secret"),
			"runs":        append([]string{"PRISM_REDIS_URL rd/rd-url"}, tracing, resultsToken, modelsToken),
			"model-proxy": model,
			"console":     console,
			"webhooks":    {tracing, deliveriesToken},
			"migrate":     {"PRISM_DATABASE_URL owner/o-url"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, with(t, c.values))
			for _, o := range workloads(r) {
				var got []string
				for _, e := range container(t, o).Env {
					if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
						got = append(got, e.Name+" "+e.ValueFrom.SecretKeyRef.Name+"/"+e.ValueFrom.SecretKeyRef.Key)
					}
				}
				want := slices.Sorted(slices.Values(c.want[component(o)]))
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s: got %q, want %q", o.what, got, want)
				}
			}
		})
	}
}

func TestRedisURLs(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		`redis: {database: 3}`:                              "redis://redis.example.com:6379/3",
		`redis: {tls: true}`:                                "rediss://redis.example.com:6379/0",
		`redis: {mode: cluster, addresses: ["a:1", "b:2"]}`: "redis+cluster://a:1?addr=b:2",
		`redis: {mode: sentinel, addresses: ["a:1", "b:2", "c:3"], masterName: "m&n", tls: true, database: 1}`: "rediss+sentinel://a:1/1?addr=b:2&addr=c:3&master_name=m%26n",
	} {
		c := container(t, workload(t, render(t, with(t, values)), "gateway"))
		if got := environment(*c)["PRISM_REDIS_URL"]; got != want {
			t.Errorf("%s: got %s, want %s", values, got, want)
		}
	}
}

// Who migrates is one of three, and results waits for the other two.
func TestOneMigrates(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][]string{"start": {"results"}, "initContainer": {"results/migrate"}, "job": {"migrate/migrate"}} {
		var got []string
		for _, o := range workloads(render(t, with(t, "migrations: {mode: "+mode+"}"))) {
			for name, c := range ours(o) {
				wait := environment(c)["PRISM_MIGRATIONS"] == "wait"
				switch {
				case c.Name == "migrate" && !wait:
					got = append(got, name)
				case c.Name == "results" && !wait:
					got = append(got, "results")
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q migrate, want %q", mode, got, want)
		}
	}
}

// A Job cannot be changed, so what it runs is in its name: the same again is the same Job, and another image is another.
func TestMigrationJobIsAnotherWhenItRunsSomethingElse(t *testing.T) {
	t.Parallel()
	job := func(over ...string) string {
		jobs := of[batchv1.Job](render(t, with(t, append([]string{"migrations: {mode: job}"}, over...)...)))
		if len(jobs) != 1 || len(jobs[0].meta.Annotations) != 0 {
			t.Fatalf("%d Jobs", len(jobs))
		}
		return jobs[0].meta.Name
	}
	first := job()
	if job() != first || job("gateway: {replicas: 5}", "commonAnnotations: {}") != first {
		t.Error("the same Job has another name")
	}
	if job("image: {tag: other}") == first || job("results: {image: {digest: 'sha256:"+strings.Repeat("a", 64)+"'}}") == first {
		t.Error("another image has the same Job")
	}
}

// What is set for one service counts there, over what is set for all.
func TestServicesHaveTheirOwnValues(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, `
defaults: {replicas: 3, logLevel: warn, nodeSelector: {a: all, b: all}, probes: {startup: {periodSeconds: 9}}, tolerations: [{key: all}]}
gateway: {resources: {limits: {memory: null, cpu: "2"}}}
results: {replicas: 4, logLevel: debug, nodeSelector: {b: own}, probes: {startup: null}, tolerations: [{key: own}], podSecurityContext: {runAsUser: null}, pdb: {maxUnavailable: null, minAvailable: 1}}
`))
	for _, o := range of[appsv1.Deployment](r) {
		pod, c, own := o.template.Spec, container(t, o.object), component(o.object) == "results"
		replicas, level, b, key := int32(3), "warn", "all", "all"
		if own {
			replicas, level, b, key = 4, "debug", "own", "own"
		}
		if *o.it.Spec.Replicas != replicas || environment(*c)["PRISM_LOG_LEVEL"] != level || pod.NodeSelector["a"] != "all" || pod.NodeSelector["b"] != b ||
			len(pod.Tolerations) != 1 || pod.Tolerations[0].Key != key || (c.StartupProbe == nil) != own || (pod.SecurityContext.RunAsUser == nil) != own {
			t.Errorf("%s:\n%s", o.what, o.text)
		}
	}
	// Of what gateway has by default Helm takes a null for itself, so what is set for all remains.
	limits := container(t, workload(t, r, "gateway")).Resources.Limits
	if limits.Memory().String() != "512Mi" || limits.Cpu().String() != "2" {
		t.Errorf("gateway's limits are %v", limits)
	}
	if budget := one[policyv1.PodDisruptionBudget](t, r, "prism-results"); budget.Spec.MaxUnavailable != nil || budget.Spec.MinAvailable.IntVal != 1 {
		t.Errorf("the budget is %v", budget.Spec)
	}
}

// A Pod has the time that it takes to stop, also of the default values.
func TestGraceOutlastsWhatStoppingTakes(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"", "defaults: {preStopSleepSeconds: 10, terminationGracePeriodSeconds: 90}"} {
		for _, o := range of[appsv1.Deployment](render(t, with(t, over))) {
			c := container(t, o.object)
			drain := number(t, strings.TrimSuffix(environment(*c)["PRISM_DRAIN_DELAY"], "s"))
			called := len(c.Ports) > 1 // nobody has to notice that a worker of runs stops
			sleep := int64(0)
			if c.Lifecycle != nil {
				sleep = c.Lifecycle.PreStop.Sleep.Seconds
			}
			// 15 s for the model, and 5 to save.
			if grace := *o.template.Spec.TerminationGracePeriodSeconds; grace <= sleep+int64(drain)+15+5 || called && drain < 5 {
				t.Errorf("%s: %d s of grace, %d of sleep, %d of draining", o.what, grace, sleep, drain)
			}
		}
	}
}

// Rules and dashboards are installed as their files say, with the labels of the values.
func TestRulesAndDashboardsAreTheFiles(t *testing.T) {
	t.Parallel()
	c := *theChart(t)
	// One of each of our own, beside those that the chart has.
	c.Files = append(slices.Clone(c.Files),
		&chart.File{Name: "rules/own.yaml", Data: []byte("groups: [{name: own, rules: [{record: a, expr: b}, {alert: C, expr: '{{ d }}', labels: {e: f, team: g}, annotations: {h: '{{ $value }}'}}]}]")},
		&chart.File{Name: "dashboards/prism-own.json", Data: []byte("{\"a\": \"{{b}}\",\n \"c\": 1}\n")})
	r := installation{chart: &c, release: "prism"}.render(t, with(t, `metrics: {rules: {enabled: true, labels: {prometheus: x}, alertLabels: {team: t}}, dashboards: {enabled: true, annotations: {grafana_folder: Prism}}}`))
	invariants(t, r)
	rules, dashboards := of[monitoringv1.PrometheusRule](r), of[corev1.ConfigMap](r)
	count := func(folder string) (n int) {
		for _, f := range c.Files {
			if ok, _ := filepath.Match(folder+"/*.*", f.Name); ok {
				n++
			}
		}
		return n
	}
	if len(rules) != count("rules") || len(dashboards) != count("dashboards") {
		t.Errorf("%d PrometheusRules of %d files, %d ConfigMaps of %d files", len(rules), count("rules"), len(dashboards), count("dashboards"))
	}
	for _, o := range rules {
		if o.meta.Labels["prometheus"] != "x" || len(o.it.Spec.Groups) == 0 {
			t.Errorf("%s has labels %v and %d groups", o.what, o.meta.Labels, len(o.it.Spec.Groups))
		}
		for _, group := range o.it.Spec.Groups {
			for _, rule := range group.Rules {
				if want := map[bool]string{true: "t"}[rule.Alert != ""]; rule.Labels["team"] != want || (rule.Alert == "") == (rule.Record == "") {
					t.Errorf("%s: %s%s has labels %v", o.what, rule.Alert, rule.Record, rule.Labels)
				}
			}
		}
	}
	own := one[monitoringv1.PrometheusRule](t, r, "prism-own").Spec.Groups[0].Rules
	if own[1].Expr.StrVal != "{{ d }}" || own[1].Labels["e"] != "f" || own[1].Annotations["h"] != "{{ $value }}" || len(own[0].Labels) != 0 {
		t.Errorf("the rules are %+v", own)
	}
	for _, o := range dashboards {
		if o.meta.Labels["grafana_dashboard"] != "1" || o.meta.Annotations["grafana_folder"] != "Prism" || len(o.it.Data) != 1 {
			t.Errorf("%s: labels %v, annotations %v, %d files", o.what, o.meta.Labels, o.meta.Annotations, len(o.it.Data))
		}
		for file, content := range o.it.Data {
			if !json.Valid([]byte(content)) || !strings.HasPrefix(file, "prism-") || len(content) > 900<<10 {
				t.Errorf("%s: %s is no dashboard", o.what, file)
			}
		}
	}
	if got := one[corev1.ConfigMap](t, r, "prism-dashboard-own").Data["prism-own.json"]; strings.TrimSpace(got) != "{\"a\": \"{{b}}\",\n \"c\": 1}" {
		t.Errorf("the dashboard is %q", got)
	}
}

// The commands of the notes name what there is.
func TestNotesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	for values, url := range map[string]string{
		``:                                 "http://127.0.0.1:8080",
		`fullnameOverride: other`:          "http://127.0.0.1:8080",
		`gateway: {service: {port: 8000}}`: "http://127.0.0.1:8080",
		`ingress: {enabled: true, hosts: [{host: a.example.com}]}`:                             "http://a.example.com",
		`ingress: {enabled: true, hosts: [{host: a.example.com}], tls: [{secretName: t}]}`:     "https://a.example.com",
		`httpRoute: {enabled: true, parentRefs: [{name: public}], hostnames: [b.example.com]}`: "https://b.example.com",
	} {
		r := render(t, with(t, values))
		if !strings.Contains(r.notes, "URL="+url+"\n") {
			t.Errorf("%s: no URL %s in\n%s", values, url, r.notes)
		}
		var notes string
		for _, service := range []string{"gateway", "results", "model-proxy", "runs", "console", "webhooks"} {
			notes += strings.ReplaceAll(r.notes, "$service", service)
		}
		seen := 0
		for _, match := range regexp.MustCompile(`deploy(?:ment)?/([a-z-]+[a-z])(?: -c ([a-z-]+))?`).FindAllStringSubmatch(notes, -1) {
			seen++
			d := one[appsv1.Deployment](t, r, match[1])
			if name := match[2]; name != "" && d.Spec.Template.Spec.Containers[0].Name != name {
				t.Errorf("%s has no container %s", match[1], name)
			}
		}
		for _, match := range regexp.MustCompile(`service/([a-z-]+) 8080:([0-9]+)`).FindAllStringSubmatch(notes, -1) {
			seen++
			if s := one[corev1.Service](t, r, match[1]); s.Spec.Ports[0].Port != number(t, match[2]) {
				t.Errorf("%s has no port %s", match[1], match[2])
			}
		}
		if seen < 6 || strings.Contains(r.notes, "<no value>") {
			t.Errorf("%d commands in\n%s", seen, r.notes)
		}
	}
	if notes := render(t, with(t, "results: {replicas: 3, databaseMaxConns: 20}")).notes; !strings.Contains(notes, "Postgres has to take 80 connections") {
		t.Errorf("no 80 connections in\n%s", notes)
	}
}

// Files for developers of the chart stay out of the archive.
func TestThePackageIsTheChartAlone(t *testing.T) {
	t.Parallel()
	for _, f := range theChart(t).Raw {
		if !regexp.MustCompile(`^(Chart\.yaml|README\.md|values\.yaml|values\.schema\.json|(templates|dashboards|examples|rules)/[^/]+|charts/prism-crds/(Chart\.yaml|templates/[^/]+))$`).MatchString(f.Name) {
			t.Errorf("%s is packed", f.Name)
		}
	}
}
