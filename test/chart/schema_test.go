package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
)

// free are maps whose keys are Kubernetes' or the user's, which the schema leaves to them.
var free = []string{
	"commonLabels", "commonAnnotations", "annotations", "labels", "alertLabels", "resourceAttributes", "requests", "limits", "behavior",
	"fallback", "affinity", "nodeSelector", "dnsConfig", "podSecurityContext", "securityContext", "podLabels", "podAnnotations",
	"rollingUpdate",
}

// isFree is whether a path leads to such a map, or into it.
func isFree(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "."), func(key string) bool { return slices.Contains(free, key) })
}

// misfit says why the schema refuses a value; "" when it does not.
func misfit(t *testing.T, path string, value any) string {
	t.Helper()
	if err := chartutil.ValidateAgainstSchema(theChart(t), nested(path, value)); err != nil {
		return err.Error()
	}
	return ""
}

func TestSchemaRefusesNamesThatDoNotExist(t *testing.T) {
	t.Parallel()
	maps := 0
	walkValues("", theChart(t).Values, func(path string, value any) {
		if _, ok := value.(map[string]any); !ok || isFree(path) {
			return
		}
		maps++
		if got := misfit(t, path+".misspelt", 1); !strings.Contains(got, "misspelt") {
			t.Errorf("%s.misspelt is taken: %q", path, got)
		}
	})
	if got := misfit(t, "misspelt", 1); !strings.Contains(got, "misspelt") {
		t.Errorf("misspelt is taken: %q", got)
	}
	if maps < 40 {
		t.Errorf("found %d maps", maps)
	}
}

func TestSchemaRefusesValuesOfAnotherKind(t *testing.T) {
	t.Parallel()
	seen := 0
	walkValues("", theChart(t).Values, func(path string, value any) {
		if isFree(path) {
			return
		}
		seen++
		wrong := map[string]any{"string": 1, "bool": "yes", "float64": "many", "[]interface {}": "one", "map[string]interface {}": "none"}[fmt.Sprintf("%T", value)]
		switch path {
		case "defaults.pdb.minAvailable", "gateway.service.nodePort", "migrations.job.ttlSecondsAfterFinished":
			wrong = "many" // null by default
		case "tracing.samplerArg":
			wrong = "many" // a number, but text where a shell gives it
		}
		if wrong == nil {
			t.Errorf("%s is a %T", path, value)
		} else if misfit(t, path, wrong) == "" {
			t.Errorf("%s: %v is taken", path, wrong)
		}
	})
	if seen < 150 {
		t.Errorf("found %d values", seen)
	}
}

// walkValues visits all values in maps, and the maps.
func walkValues(path string, values map[string]any, visit func(path string, value any)) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		visit(at, values[key])
		if m, ok := values[key].(map[string]any); ok {
			walkValues(at, m, visit)
		}
	}
}

// Each word that the schema lets one choose is rendered, and no other is taken.
func TestEveryChoiceOfTheSchema(t *testing.T) {
	t.Parallel()
	// What has to be said with a choice.
	needs := map[string]string{
		"gateway.service.externalTrafficPolicy": `gateway: {service: {type: NodePort}}`,
		"model.provider openai-chat":            `model: {name: m}`,
		"postgres.auth google":                  `postgres: {existingSecret: "", username: u}`,
		"postgres.auth azure":                   `postgres: {existingSecret: "", username: u}`,
		"postgres.auth aws":                     `postgres: {existingSecret: "", username: u}`,
		"redis.auth file":                       `redis: {existingSecret: r, passwordKey: p}`,
		"redis.auth google":                     `redis: {tls: true}`,
		"redis.auth azure":                      `redis: {tls: true, username: u}`,
		"redis.auth aws":                        `redis: {tls: true, username: u, awsCache: c}`,
		"model.provider offline":                `model: {existingSecret: ""}`,
	}
	found := choices(t)
	if len(found) < 16 {
		t.Errorf("found %d choices", len(found))
	}
	for path, words := range found {
		if misfit(t, path, "misspelt") == "" || misfit(t, path, strings.ToUpper(words[len(words)-1])+" ") == "" {
			t.Errorf("%s takes what is no choice", path)
		}
		for _, word := range words {
			if path == "model.provider" && word == "" {
				continue // the default, which is refused with words of its own
			}
			t.Run(path+"="+word, func(t *testing.T) {
				t.Parallel()
				values := with(t, needs[path], needs[path+" "+word])
				r := render(t, chartutil.MergeTables(nested(path, word), values))
				invariants(t, r)
				understood(t, r)
			})
		}
	}
}

// choices are the enums of the schema, by path.
func choices(t *testing.T) map[string][]string {
	t.Helper()
	var root node
	if err := json.Unmarshal(theChart(t).Schema, &root); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	root.walk("", root.Definitions, found)
	for path := range found {
		// The Service of one of the others has no such choice.
		if strings.Contains(path, ".service.") && !strings.HasPrefix(path, "gateway.") || strings.HasPrefix(path, "migrations.postgres.") {
			delete(found, path)
		}
	}
	return found
}

type node struct {
	Ref         string `json:"$ref"`
	Enum        []string
	Properties  map[string]node
	AllOf       []node
	Definitions map[string]node
}

func (n node) walk(path string, definitions map[string]node, found map[string][]string) {
	if n.Ref != "" {
		n = definitions[strings.TrimPrefix(n.Ref, "#/definitions/")]
	}
	if len(n.Enum) > 0 {
		found[path] = n.Enum
	}
	for _, part := range n.AllOf {
		part.walk(path, definitions, found)
	}
	for name, property := range n.Properties {
		property.walk(strings.TrimPrefix(path+"."+name, "."), definitions, found)
	}
}

func TestSchemaRefusesValuesOfTheWrongForm(t *testing.T) {
	t.Parallel()
	for path, values := range map[string][]any{
		"fullnameOverride":                       {"Upper", "-a", "1a", "a_b"},
		"image.tag":                              {"a b", "-a", strings.Repeat("t", 129)},
		"gateway.image.digest":                   {"sha256:abc", strings.Repeat("a", 64)},
		"postgres.host":                          {"user@host", "host/db", "a b"},
		"postgres.port":                          {0, 65536, 1.5},
		"postgres.layout":                        {"", "two"},
		"postgres.existingSecret":                {"Upper", "a_b"},
		"postgres.urlKey":                        {"", "a b"},
		"redis.addresses":                        {[]any{"redis"}, []any{"redis://a:1"}, []any{"a:1", "a:1"}, []any{"u:p@a:1"}},
		"model.baseURL":                          {"models.example.com", "https://key@models.example.com", "https://a?key=b"},
		"internalTLS.stage":                      {"", "strict"},
		"internalTLS.certManager.duration":       {"90d", 90},
		"internalTLS.certManager.issuerRef":      {"ca", map[string]any{"names": "ca"}},
		"internalTLS.gateway":                    {"secret", map[string]any{"secretName": "s"}},
		"tracing.endpoint":                       {"collector:4318", "grpc://collector:4317"},
		"tracing.samplerArg":                     {2, "1.5", "-1"},
		"defaults.replicas":                      {-1, 1.5},
		"defaults.terminationGracePeriodSeconds": {0},
		"defaults.maxBodyBytes":                  {"64MB", "1TiB"},
		"defaults.maxResponseBytes":              {"64MB", "1TiB"},
		"defaults.pdb.maxUnavailable":            {"101%", "1", -1},
		"defaults.probes.liveness":               {map[string]any{"httpGet": map[string]any{}}},
		"defaults.image.repository":              {"r"},
		"defaults.service.type":                  {"NodePort"},
		"modelProxy.service.port":                {80},
		"results.service.nodePort":               {30000},
		"gateway.databaseMaxConns":               {1},
		"results.databaseMaxConns":               {0},
		"operator.service":                       {map[string]any{}},
		"operator.namespaces":                    {"team", []any{"Team"}, []any{"a", "a"}},
		"operator.resync":                        {"often", 5},
		"webhooks.namespaces":                    {[]any{"a"}},
		"gateway.resync":                         {"1m"},
		"models.declared":                        {"true"},
		"webhooks.service":                       {map[string]any{}},
		"webhooks.concurrency":                   {0},
		"webhooks.allow":                         {"10.0.0.0/8", []any{"localhost"}},
		"webhooks.autoscaling.queueSeconds":      {30},
		"gateway.allow":                          {[]any{"10.0.0.0/8"}},
		"runs.allow":                             {[]any{"10.0.0.0/8"}},
		"console.allow":                          {[]any{"10.0.0.0/8"}},
		"defaults.allow":                         {[]any{"10.0.0.0/8"}},
		"runs.databaseMaxConns":                  {1},
		"runs.service":                           {map[string]any{}},
		"runs.autoscaling.queueSeconds":          {0},
		"runs.concurrency":                       {0},
		"console.concurrency":                    {1},
		"console.service.type":                   {"NodePort"},
		"console.autoscaling.metric":             {"m"},
		"publicURL":                              {"http://prism.example.com", "https://prism.example.com/path", "prism.example.com"},
		"openid.issuer":                          {"http://login.example.com", "https://a:b@login.example.com"},
		"openid.scopes":                          {"openid", []any{"openid email"}},
		"results.concurrency":                    {1},
		"results.enabled":                        {true},
		"gateway.autoscaling.metric":             {"m"},
		"defaults.autoscaling.queueSeconds":      {1},
		"files.url":                              {"https://s3.example.com", "s3://key:secret@bucket", "s3://Bucket", "s3://b?a b"},
		"results.synchronousCommit":              {"sometimes"},
		"gateway.synchronousCommit":              {"on"},
		"results.temporaryLimit":                 {"20 GiB", "-1Gi", 20},
		"runs.temporaryLimit":                    {"20Gi"},
		"gateway.extraEnv":                       {[]any{map[string]any{"value": "v"}}},
		"networkPolicy.clients.from":             {[]any{map[string]any{"podselector": map[string]any{}}}},
		"ingress.hosts":                          {[]any{map[string]any{"paths": []any{}}}, []any{map[string]any{"host": "a", "paths": []any{map[string]any{"path": "v1"}}}}},
		"image.pullSecrets":                      {[]any{"name"}},
		"httpRoute.timeouts":                     {map[string]any{"request": "1 minute"}, map[string]any{"idle": "1s"}},
	} {
		for _, value := range values {
			if misfit(t, path, value) == "" {
				t.Errorf("%s: %v is taken", path, value)
			}
		}
	}
}
