package chart

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// contradictions are settings that do not go together, and what the chart says of them, word by word.
func contradictions() []struct{ values, message string } {
	const all = "the autoscaler's target is a percentage of it"
	return []struct{ values, message string }{
		{`image: {requireDigest: true}`, "gateway.image.digest: is required by image.requireDigest; `make images` prints it behind the @"},
		{`{image: {requireDigest: true, tag: v1}, gateway: {image: {digest: "sha256:` + strings.Repeat("a", 64) + `"}}}`, "results.image.digest: is required by image.requireDigest"},
		{`postgres: {existingSecret: ""}`, "postgres.existingSecret: is required: the Secret with the credentials of Postgres"},
		{`postgres: {username: u}`, "postgres.username: is used with an identity in postgres.auth only; the Secret has the user, under postgres.usernameKey"},
		{`postgres: {auth: aws, username: u}`, "postgres.existingSecret: is not used with postgres.auth aws, which needs no password"},
		{`postgres: {auth: azure, existingSecret: ""}`, "postgres.host: is required with postgres.auth azure, and postgres.username too"},
		{withDatabases("    home:", "    house:"), "postgres.databases: has no home, the database that has the directory"},
		{`postgres: {databases: {home: {host: h, username: u, existingSecret: s}}}`, "postgres: existingSecret, auth, username, host and layout are not used with postgres.databases, which has them for each database"},
		{withDatabases("host: home.example.com, ", ""), "postgres.databases.home: host and username are required"},
		{withDatabases(", existingSecret: pg-home", ""), "postgres.databases.home.existingSecret: is required: the Secret with the password"},
		{withDatabases("auth: aws", "auth: aws, existingSecret: s"), "postgres.databases.west.existingSecret: is not used with auth aws, which needs no password"},
		{severalDatabases + "migrations: {mode: job, postgres: {databases: {north: {username: o}}}}", "migrations.postgres.databases.north: is no database of postgres.databases"},
		{`redis: {auth: file}`, "redis.auth: file needs redis.addresses, and the password in redis.passwordKey"},
		{`redis: {auth: google}`, "redis.auth: google needs redis.addresses and redis.tls"},
		{`redis: {auth: google, tls: true, existingSecret: r, passwordKey: p}`, "redis.existingSecret: is not used with redis.auth google, which needs no password"},
		{`redis: {auth: azure, tls: true}`, "redis.username: is required with redis.auth azure"},
		{`redis: {auth: aws, tls: true, username: u}`, "redis.awsCache: is required with redis.auth aws, and used with it only"},
		{`redis: {username: u}`, "redis.username: is used with an identity in redis.auth only; the Secret has the user, under redis.usernameKey"},
		{`migrations: {postgres: {existingSecret: o}}`, "migrations.postgres: is not used when each replica migrates at its start; set migrations.mode to initContainer or job"},
		{`redis: {addresses: []}`, "redis: is required: set redis.addresses, or redis.existingSecret to a Secret with the URL; a single gateway can do with redis.enabled=false"},
		{`redis: {passwordKey: p}`, "redis.existingSecret: is required: redis.usernameKey, passwordKey and sentinelPasswordKey are keys of it"},
		{`redis: {addresses: [], existingSecret: r, passwordKey: p}`, "redis.addresses: is empty, so the whole URL is read from the Secret, and usernameKey, passwordKey and sentinelPasswordKey are not used"},
		{`redis: {existingSecret: r}`, "redis.existingSecret: is not used with redis.addresses unless passwordKey names a key of it; or leave redis.addresses empty, and the URL is read from it"},
		{`redis: {existingSecret: r, usernameKey: u}`, "redis.passwordKey: is required with redis.usernameKey"},
		{`redis: {addresses: ["a:1", "b:2"]}`, "redis.addresses: are several, which needs redis.mode sentinel or cluster"},
		{`redis: {existingSecret: r, passwordKey: p, sentinelPasswordKey: s}`, "redis.sentinelPasswordKey: is used in redis.mode sentinel only"},
		{`redis: {mode: sentinel, masterName: ""}`, "redis.masterName: is required in redis.mode sentinel"},
		{`redis: {mode: cluster, database: 1}`, "redis.database: a cluster has database 0 only"},
		{`redis: {enabled: false}`, "redis.enabled: is false, but redis.addresses or redis.existingSecret is set"},
		{`redis: {enabled: false, addresses: []}`, "redis.enabled: is false, which is right for one gateway alone: set gateway.replicas to 1 and no autoscaler, or give it a Redis"},
		{`{redis: {enabled: false, addresses: []}, gateway: {replicas: 1, autoscaling: {enabled: true}}}`, "redis.enabled: is false, which is right for one gateway alone"},
		{`model: {provider: ""}`, "model.provider: is required: systemone, openai-decisions, openai-chat, anthropic, or offline"},
		{`model: {provider: offline}`, "model.provider: offline asks no model, so model.baseURL, model.name and model.existingSecret are not used"},
		{`model: {provider: openai-chat}`, "model.name: is required by openai-chat"},
		{`model: {existingSecret: ""}`, "model.existingSecret: is required by the address of openai-decisions itself; a server of your own is named by model.baseURL"},
		{`model: {baseURL: "http://models.prism.svc:8000"}`, "networkPolicy.model.to: lets model-proxy reach public addresses only, but model.baseURL is inside; set it to where models.prism.svc is, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: models}}}], and networkPolicy.model.ports to the port of its Pods"},
		{`model: {baseURL: "http://172.20.0.1"}`, "networkPolicy.model.to: lets model-proxy reach public addresses only"},
		{`tokens: {results: {existingSecret: prism-results-token}}`, "tokens.results.existingSecret: names the Secret that the chart makes itself, which would then be removed; copy its token to a Secret of another name"},
		{`models: {declared: true}`, "models.declared: needs operator.enabled, which writes the file of models"},
		{`{operator: {enabled: true}, models: {declared: true, default: a, list: [{name: a, provider: offline}]}}`, "models: has both a list and declared; the models of the list belong into a PrismModels"},
		{`models: {default: a}`, "models.list: is empty, so models.default and models.secrets are not used"},
		{`models: {default: a, list: [{name: a, provider: offline}]}`, "model: is not used with models.list; empty model.provider, baseURL, name and existingSecret"},
		{strings.Replace(severalModels, "default: fast", "default: b", 1), "models.default: must be the name of a model of models.list"},
		{strings.Replace(severalModels, "name: none", "name: fast", 1), "models.list: has two models with the name fast"},
		{strings.Replace(severalModels, "[strong]", "[fast]", 1), "models.list: fast has the fallback fast, which is no other model"},
		{strings.Replace(severalModels, "[strong]", "[weak]", 1), "models.list: fast has the fallback weak, which is no other model"},
		{strings.Replace(severalModels, "api_key_env: A}", "api_key_env: B}", 1), "models.secrets: has no B, which the model strong names"},
		{strings.Replace(severalModels, "env: A}}", "env: C}}", 1), "models.secrets: has no C, which the model fast names"},
		{strings.Replace(severalModels, "networkPolicy: {model: {to: [{namespaceSelector: {}}]}}", "", 1), "networkPolicy.model.to: lets model-proxy reach public addresses only, but base_url of the model fast is inside; set it to where models.models.svc is"},
		{`tokens: {modelProxy: {existingSecret: prism-model-proxy-token}}`, "tokens.modelProxy.existingSecret: names the Secret that the chart makes itself, which would then be removed; copy its token to a Secret of another name"},
		{`internalTLS: {enabled: true, certManager: {enabled: true}}`, "internalTLS.certManager.issuerRef: is required with internalTLS.certManager.enabled: the name of the Issuer, and its kind"},
		{`internalTLS: {certManager: {enabled: true, issuerRef: {name: ca}}}`, "internalTLS.enabled: is false, but internalTLS.certManager.enabled is true"},
		{`internalTLS: {enabled: true, gateway: {existingSecret: g}, results: {existingSecret: r}}`, "internalTLS.modelProxy.existingSecret: is required with internalTLS.enabled, unless internalTLS.certManager asks for the certificates"},
		{`internalTLS: {enabled: true, results: {existingSecret: r}, certManager: {enabled: true, issuerRef: {name: ca}}}`, "internalTLS.results.existingSecret: is not used, as internalTLS.certManager asks for the certificate"},
		{`internalTLS: {gateway: {existingSecret: g}}`, "internalTLS.enabled: is false, but internalTLS.gateway.existingSecret is set"},
		{`files: {existingSecret: f}`, "files.existingSecret: has the credentials of an object store, but files.url is empty, so files are in the database"},
		{`{console: {enabled: false}, openid: {issuer: "https://login.example.com"}}`, "openid.issuer: is not used, as console.enabled is false"},
		{`openid: {issuer: "https://login.example.com"}`, "publicURL: is required with openid.issuer: the address that browsers come back to"},
		{`openid: {issuer: "https://login.example.com", clientID: prism}`, "openid.clientID and openid.existingSecret: are required with openid.issuer"},
		{`openid: {issuer: "https://login.example.com", clientID: prism, existingSecret: o, scopes: [email]}`, "openid.scopes: must have openid"},
		{`openid: {clientID: prism}`, "openid.issuer: is empty, so openid.clientID and openid.existingSecret are not used"},
		{`tracing: {existingSecret: t}`, "tracing.existingSecret: has headers for a collector, but tracing.endpoint is empty"},
		{`ingress: {enabled: true}`, "ingress.hosts: is required with ingress.enabled"},
		{`httpRoute: {enabled: true}`, "httpRoute.parentRefs: is required with httpRoute.enabled: the Gateways that it belongs to"},
		{`gateway: {service: {loadBalancerClass: c}}`, "gateway.service: loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer"},
		{`gateway: {service: {type: NodePort, loadBalancerSourceRanges: [192.0.2.0/24]}}`, "gateway.service: loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer"},
		{`gateway: {service: {nodePort: 30000}}`, "gateway.service: nodePort and externalTrafficPolicy need type NodePort or LoadBalancer"},
		{`metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}`, "metrics: serviceMonitor and podMonitor would both scrape each Pod; enable one"},
		{`{metrics: {podMonitor: {enabled: true}}, networkPolicy: {metrics: {namespace: ""}}}`, "networkPolicy.metrics.namespace: is empty, so nobody may scrape; set it to the namespace of Prometheus"},
		{`results: {autoscaling: {enabled: true}, keda: {enabled: true, triggers: [{type: cpu}]}}`, "results: autoscaling and keda would both scale; enable one"},
		{`modelProxy: {autoscaling: {enabled: true, minReplicas: 11}}`, "modelProxy.autoscaling.minReplicas: is above maxReplicas"},
		{`gateway: {keda: {enabled: true, minReplicas: 11, triggers: [{type: cpu}]}}`, "gateway.keda.minReplicas: is above maxReplicas"},
		{`gateway: {autoscaling: {enabled: true, targetCPU: 0}}`, "gateway.autoscaling: has nothing to scale by; set targetCPU, targetMemory or metrics"},
		{`results: {autoscaling: {enabled: true}, resources: {requests: {cpu: null}}}`, "results.resources.requests.cpu: is required: " + all},
		{`modelProxy: {autoscaling: {enabled: true, targetMemory: 80}, resources: {requests: {memory: null}}}`, "modelProxy.resources.requests.memory: is required: " + all},
		{`gateway: {keda: {enabled: true}}`, "gateway.keda.triggers: is required with keda.enabled"},
		{`gateway: {pdb: {minAvailable: 1}}`, "gateway.pdb: has both minAvailable and maxUnavailable; set maxUnavailable to null"},
		{`defaults: {pdb: {maxUnavailable: null}}`, "gateway.pdb: needs minAvailable or maxUnavailable"},
		{`gateway: {pdb: {minAvailable: 2, maxUnavailable: null}}`, "gateway.pdb.minAvailable: is all of the 2 replicas, so that no node could ever be drained"},
		{`gateway: {replicas: 9, autoscaling: {enabled: true, minReplicas: 3}, pdb: {minAvailable: 3, maxUnavailable: null}}`, "gateway.pdb.minAvailable: is all of the 3 replicas"},
		{`gateway: {pdb: {minAvailable: 100%, maxUnavailable: null}}`, "gateway.pdb.minAvailable: is all of the 2 replicas"},
		{`gateway: {pdb: {maxUnavailable: 0}}`, "gateway.pdb.maxUnavailable: is 0, so that no node could ever be drained"},
		{`results: {pdb: {maxUnavailable: 0%}}`, "results.pdb.maxUnavailable: is 0, so that no node could ever be drained"},
		{`results: {drainDelaySeconds: 46}`, "results.terminationGracePeriodSeconds: is 80, but stopping takes up to 81: preStopSleepSeconds, drainDelaySeconds, and 35 for the calls under way"},
		{`defaults: {preStopSleepSeconds: 11}`, "gateway.terminationGracePeriodSeconds: is 60, but stopping takes up to 61"},
		{`gateway: {extraEnv: [{name: PRISM_LISTEN, value: ":1"}]}`, "gateway.extraEnv: sets PRISM_LISTEN, which is set already; values has a place for what the chart sets"},
		{`results: {extraEnv: [{name: A}, {name: A}]}`, "results.extraEnv: sets A, which is set already"},
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range contradictions() {
		t.Run(c.values, func(t *testing.T) {
			t.Parallel()
			got := refused(t, with(t, c.values))
			if !strings.Contains(got, "The values are wrong:\n  ") || !strings.Contains(got, "\n  "+c.message) {
				t.Errorf("got %q\nwant %q", got, c.message)
			}
		})
	}
}

func TestAllProblemsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	got := refused(t, nil)
	for _, problem := range []string{"\n  postgres.existingSecret: ", "\n  redis: ", "\n  model.provider: "} {
		if strings.Count(got, problem) != 1 {
			t.Errorf("%q is not told once in\n%s", problem, got)
		}
	}
}

// Each line that the chart may refuse with is one of the messages above.
func TestEveryRefusalIsTested(t *testing.T) {
	t.Parallel()
	action := regexp.MustCompile(`\\{\\{.*?\\}\\}`)
	lines := 0
	for line := range strings.Lines(readFile(t, folder, "templates", "_checks.tpl")) {
		text := strings.TrimSpace(line)
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(text, "{{-") {
			continue
		}
		lines++
		said := regexp.MustCompile("^" + action.ReplaceAllString(regexp.QuoteMeta(text), ".*") + "$")
		if !slices.ContainsFunc(contradictions(), func(c struct{ values, message string }) bool {
			return said.MatchString(c.message)
		}) {
			t.Errorf("no test is refused with %q", text)
		}
	}
	if lines < 30 {
		t.Errorf("found %d lines", lines)
	}
}
