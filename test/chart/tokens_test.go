package chart

import (
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The first installation makes the tokens, and each later one keeps what the cluster has.
func TestTokensAreMadeOnceAndKept(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"results", "model-proxy", "console", "sessions", "deliveries"} {
		made := func(c cluster) string {
			r := installation{chart: theChart(t), release: "prism", cluster: c}.render(t, with(t, "tokens: {results: {key: k}, modelProxy: {key: k}, console: {key: k}, sessions: {key: k}, deliveries: {key: k}}"))
			s := one[corev1.Secret](t, r, "prism-"+name+"-token")
			if s.Immutable == nil || !*s.Immutable || len(s.Data) != 1 || len(of[corev1.Secret](r)) != 5 {
				t.Errorf("the Secret is %v with %d keys", s.Immutable, len(s.Data))
			}
			return string(s.Data["k"])
		}
		first := made(nil)
		if !regexp.MustCompile(`^[A-Za-z0-9]{48}$`).MatchString(first) || made(nil) == first {
			t.Error("the token that is made is none, or always the same")
		}
		if got := made(secretsOf("k", first, "prism-"+name+"-token")); got != first {
			t.Error("an upgrade makes another token")
		}
		if got := made(secretsOf("k", first, "other-"+name+"-token")); got == first {
			t.Error("the token of another release is taken")
		}
	}
}

// tokensOf are the variables with tokens of each service, and where they come from.
func tokensOf(t *testing.T, r rendering) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, o := range of[appsv1.Deployment](r) {
		env := environment(*container(t, o.object))
		for _, variable := range []string{"PRISM_RESULTS_TOKEN", "PRISM_MODEL_PROXY_TOKEN", "PRISM_CONSOLE_TOKEN", "PRISM_RESULTS_CONSOLE_TOKEN", "PRISM_RESULTS_WEBHOOKS_TOKEN", "PRISM_OPERATOR_TOKEN"} {
			if from := env[variable]; from != "" {
				found[o.meta.Name] += variable + "=" + from + " "
			}
		}
	}
	return found
}

// apart are the variables of the console and of webhooks among those of a service, and the others.
func apart(variables string) (console, others string) {
	for entry := range strings.SplitAfterSeq(variables, " ") {
		if strings.Contains(entry, "CONSOLE_TOKEN") || strings.Contains(entry, "WEBHOOKS_TOKEN") {
			console += entry
		} else {
			others += entry
		}
	}
	return console, others
}

// model-proxy and the console call the internet, so no token of results may be in their Pods.
// spec: token-for-each-edge
func TestOnlyAServiceAndItsCallersHaveItsTokens(t *testing.T) {
	t.Parallel()
	const results, models = "PRISM_RESULTS_TOKEN=prism-results-token/token ", "PRISM_MODEL_PROXY_TOKEN=prism-model-proxy-token/token "
	const console, sessions = "PRISM_CONSOLE_TOKEN=prism-console-token/token ", "PRISM_RESULTS_CONSOLE_TOKEN=prism-sessions-token/token "
	const deliveries = "PRISM_RESULTS_WEBHOOKS_TOKEN=prism-deliveries-token/token "
	for name, c := range map[string]struct {
		values                   string
		gateway, results, models string
		made                     int
	}{
		"an installation": {`{}`, results + models, results, models, 5},
		"two are given": {
			`{tokens: {results: {existingSecret: a, key: x}, modelProxy: {existingSecret: a, key: z}}}`,
			"PRISM_RESULTS_TOKEN=a/x PRISM_MODEL_PROXY_TOKEN=a/z ", "PRISM_RESULTS_TOKEN=a/x ", "PRISM_MODEL_PROXY_TOKEN=a/z ", 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := installation{chart: theChart(t), release: "prism"}.render(t, with(t, c.values))
			got := tokensOf(t, r)
			for service, want := range map[string][2]string{ // those of the API, and those of the console
				"gateway": {c.gateway, console}, "runs": {c.gateway}, "results": {c.results, sessions + deliveries}, "webhooks": {"", deliveries}, "model-proxy": {c.models}, "console": {"", console + sessions},
			} {
				own, others := apart(got["prism-"+service])
				if others != want[0] || own != want[1] {
					t.Errorf("%s has %q and %q, want %q", service, others, own, want)
				}
			}
			made := of[corev1.Secret](r)
			if len(made) != c.made {
				t.Errorf("%d Secrets are made", len(made))
			}
		})
	}
}
