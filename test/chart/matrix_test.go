package chart

import (
	"path/filepath"
	"strings"
	"testing"
)

// matrix has each feature on and off, and those together that meet in the templates.
func matrix() map[string]string {
	return map[string]string{
		"the least values":         ``,
		"names":                    `nameOverride: spectrum`,
		"whole names":              `fullnameOverride: spectrum`,
		"names that are too long":  `{nameOverride: ` + strings.Repeat("n", 80) + `, metrics: {serviceMonitor: {enabled: true}, dashboards: {enabled: true}, rules: {enabled: true}}, migrations: {mode: job}}`,
		"a name cut at a hyphen":   `{fullnameOverride: ` + strings.Repeat("n", 39) + `-n}`,
		"common labels":            `{commonLabels: {team: a, app.kubernetes.io/name: mine}, commonAnnotations: {a: b}, defaults: {podLabels: {app.kubernetes.io/component: mine, p: q}, podAnnotations: {c: "1"}}}`,
		"images by digest":         `{defaults: {image: {digest: "sha256:` + strings.Repeat("a", 64) + `"}}, migrations: {mode: job}}`,
		"images of several places": `{image: {registry: "", tag: v2, pullPolicy: Always, pullSecrets: [{name: pull}]}, gateway: {image: {registry: "elsewhere.example.com/", tag: "1.2", repository: g}}}`,

		"Postgres by URL":                 `postgres: {host: "", urlKey: uri}`,
		"Postgres at an address":          `postgres: {host: "fd00::1", port: 6432, database: p, sslMode: require, usernameKey: u, passwordKey: p}`,
		"Postgres by a file":              `{postgres: {auth: file}, migrations: {mode: job, postgres: {existingSecret: owner}}}`,
		"Postgres by a file of the URL":   `{postgres: {auth: file, host: "", urlKey: uri}, migrations: {mode: initContainer}}`,
		"Postgres by an identity":         `{postgres: {auth: aws, existingSecret: "", username: u}, migrations: {mode: initContainer}}`,
		"several databases":               severalDatabases,
		"several databases by a Job":      severalDatabases + "migrations: {mode: job, postgres: {databases: {home: {username: o, existingSecret: owner}}}}",
		"several databases beside":        severalDatabases + "migrations: {mode: initContainer}",
		"migrations beside":               `migrations: {mode: initContainer}`,
		"migrations as another role":      `migrations: {mode: initContainer, postgres: {existingSecret: owner, usernameKey: o, port: 6432}}`,
		"a Job that migrates":             `migrations: {mode: job, postgres: {existingSecret: owner, host: direct.example.com}, job: {annotations: {helm.sh/hook: "pre-install,pre-upgrade"}, serviceAccountName: own-migrate, ttlSecondsAfterFinished: 0}}`,
		"a Job that migrates by URL":      `{postgres: {host: ""}, migrations: {mode: job, postgres: {urlKey: owner}}}`,
		"a Job with extras":               `{migrations: {mode: job}, trust: {secret: ca}, results: {extraEnv: [{name: A, value: b}], extraEnvFrom: [{secretRef: {name: e}}], extraVolumes: [{name: v, emptyDir: {}}], extraVolumeMounts: [{name: v, mountPath: /v}]}}`,
		"an init container that migrates": `{migrations: {mode: initContainer}, results: {extraInitContainers: [` + proxy + `]}}`,

		"Redis by URL":             `redis: {addresses: [], existingSecret: r, urlKey: u}`,
		"Redis with a password":    `redis: {tls: true, existingSecret: r, usernameKey: u, passwordKey: p, database: 3}`,
		"Redis by a file":          `redis: {auth: file, mode: sentinel, existingSecret: r, usernameKey: u, passwordKey: p, sentinelPasswordKey: s}`,
		"Redis by an identity":     `redis: {auth: aws, tls: true, username: u, awsCache: c}`,
		"Redis at an IPv6 address": `redis: {addresses: ["[fd00::1]:6380"]}`,
		"Redis behind Sentinels":   `redis: {mode: sentinel, addresses: ["a:26379", "b:26380"], masterName: "my master", database: 2, existingSecret: r, passwordKey: p, sentinelPasswordKey: s}`,
		"a cluster of Redis":       `redis: {mode: cluster, addresses: ["a:6379", "b:6380"], tls: true}`,
		"no Redis":                 `{redis: {enabled: false, addresses: []}, gateway: {replicas: 1}}`,

		"the offline model":         `model: {provider: offline, existingSecret: ""}`,
		"a model of one's own":      `{model: {provider: openai-chat, name: m, baseURL: "http://models.models.svc:8000/v1", existingSecret: "", apiKeyKey: k}, networkPolicy: {model: {to: [{namespaceSelector: {}}]}}}`,
		"a model at its own port":   `model: {provider: systemone, baseURL: "https://models.example.com:8443/x"}`,
		"several models":            severalModels,
		"tokens of one's own":       `tokens: {results: {existingSecret: own, key: k}, modelProxy: {existingSecret: own, key: l}, console: {existingSecret: own, key: m}, sessions: {existingSecret: own, key: o}}`,
		"a token under another key": `tokens: {results: {key: k}}`,
		"certificates of one's own": `internalTLS: {enabled: true, gateway: {existingSecret: g}, runs: {existingSecret: w}, results: {existingSecret: r}, modelProxy: {existingSecret: m}, console: {existingSecret: c}, webhooks: {existingSecret: h}}`,
		"certificates are offered":  `internalTLS: {enabled: true, stage: offer, gateway: {existingSecret: g}, runs: {existingSecret: w}, results: {existingSecret: r}, modelProxy: {existingSecret: m}, console: {existingSecret: c}, webhooks: {existingSecret: h}}`,
		"certificates are used":     `{internalTLS: {enabled: true, stage: use, certManager: {enabled: true, issuerRef: {name: ca}}}, migrations: {mode: job}, trust: {configMap: c}}`,
		"authorities":               `{trust: {configMap: c, secret: s}, migrations: {mode: initContainer}}`,
		"traces":                    `{tracing: {endpoint: "http://collector:4318", existingSecret: t, headersKey: h, sampler: always_on, samplerArg: 0.5, resourceAttributes: {deployment.environment.name: "a b,c=d"}}}`,
		"traces over TLS":           `tracing: {endpoint: "https://collector.example.com/otlp", samplerArg: "1"}`,

		"the operator":                    `{operator: {enabled: true}, metrics: {serviceMonitor: {enabled: true}, rules: {enabled: true}, dashboards: {enabled: true}}}`,
		"the operator in some namespaces": `{operator: {enabled: true, namespaces: [team-a, team-b], resync: 30s, serviceAccount: {annotations: {a: b}}}, gateway: {service: {port: 8443}}, networkPolicy: {clients: {from: [{namespaceSelector: {}}]}, kubernetes: {to: [{ipBlock: {cidr: 10.96.0.1/32}}]}}}`,
		"the operator over TLS":           `{operator: {enabled: true}, internalTLS: {enabled: true, certManager: {enabled: true, issuerRef: {name: ca}}}, metrics: {podMonitor: {enabled: true}}}`,
		"models of custom resources":      `{operator: {enabled: true}, models: {declared: true}}`,
		"the operator as its user likes":  `operator: {enabled: true, serviceAccount: {create: false, name: own-operator}, replicas: 1}`,

		"no workers":               `{runs: {enabled: false}, metrics: {serviceMonitor: {enabled: true}}}`,
		"workers by their queue":   `runs: {autoscaling: {enabled: true, metric: prism_run_queue_seconds, queueSeconds: 60}, resources: {requests: null}}`,
		"no console":               `{console: {enabled: false}, metrics: {serviceMonitor: {enabled: true}}, internalTLS: {enabled: true, certManager: {enabled: true, issuerRef: {name: ca}}}}`,
		"OpenID Connect":           `{publicURL: "https://prism.example.com", openid: {issuer: "https://login.example.com:8443/realms/a", clientID: prism, existingSecret: o, clientSecretKey: k, scopes: [openid], claims: []}}`,
		"files in a bucket of AWS": `files: {url: "s3://files/of/prism?region=eu-central-1"}`,
		"files in a folder":        `{files: {url: "file:///files"}, results: {extraVolumes: [{name: v, emptyDir: {}}], extraVolumeMounts: [{name: v, mountPath: /files}]}}`,
		"a bound of files on disk": `results: {temporaryLimit: 20Gi}`,
		"files in an object store": `{files: {url: "s3://files?endpoint=http%3A%2F%2Fminio.objects.svc%3A9000&path_style=true", existingSecret: f, accessKeyKey: a, secretKeyKey: s}, migrations: {mode: job}, networkPolicy: {files: {to: [{namespaceSelector: {}}]}}}`,

		"an HPA for each":               `defaults: {autoscaling: {enabled: true, targetMemory: 80, metrics: [{type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: "5"}}}]}}`,
		"KEDA for each":                 `defaults: {keda: {enabled: true, triggers: [{type: cron, metadata: {timezone: UTC, start: 0 8 * * *, end: 0 9 * * *, desiredReplicas: "4"}}]}}`,
		"all ways to scale":             `{gateway: {autoscaling: {enabled: true, targetCPU: 0, targetMemory: 70, behavior: {}}}, modelProxy: {keda: {enabled: true, minReplicas: 3, triggers: [{type: prometheus, metadata: {a: b}, authenticationRef: {name: x}}], fallback: {failureThreshold: 3, replicas: 4}, behavior: {}}}}`,
		"one replica of each":           `{defaults: {replicas: 1, strategy: {type: Recreate}, pdb: {enabled: false}}}`,
		"budgets of the fewest":         `defaults: {replicas: 3, pdb: {minAvailable: 2, maxUnavailable: null}}`,
		"budgets in percent":            `{defaults: {pdb: {maxUnavailable: 25%}}, gateway: {pdb: {minAvailable: 50%, maxUnavailable: null}}}`,
		"probes of one's own":           `{defaults: {probes: {startup: null, readiness: {periodSeconds: 1}, liveness: {initialDelaySeconds: 5}}}}`,
		"a pause before the end":        `defaults: {preStopSleepSeconds: 5, terminationGracePeriodSeconds: 90}`,
		"bounds":                        `defaults: {maxInFlight: 100, maxConnections: 400, maxBodyBytes: 64MiB, maxResponseBytes: 32MiB, logLevel: debug}`,
		"where Pods run":                `defaults: {affinity: {nodeAffinity: {}}, nodeSelector: {a: b}, tolerations: [{key: a, operator: Exists}], priorityClassName: high, dnsConfig: {options: [{name: ndots, value: "2"}]}, topologySpreadConstraints: []}`,
		"a user that the cluster picks": `defaults: {podSecurityContext: {runAsUser: null, runAsGroup: null}}`,
		"accounts of one's own":         `{defaults: {serviceAccount: {create: false}}, gateway: {serviceAccount: {name: own-gateway}}, migrations: {mode: job}}`,
		"accounts with annotations":     `{defaults: {serviceAccount: {annotations: {a: b}}}, results: {serviceAccount: {name: called}}}`,
		"extras": `{defaults: {extraEnv: [{name: A, value: b}], extraEnvFrom: [{configMapRef: {name: e}}], extraVolumes: [{name: v, emptyDir: {}}], extraVolumeMounts: [{name: v, mountPath: /v}], extraContainers: [` + proxy + `]},
			extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: extra-a}, data: {release: "{{ .Release.Name }}"}}, "apiVersion: v1\nkind: Secret\nmetadata: {name: extra-{{ .Release.Name }}}"]}`,

		"a load balancer":        `gateway: {service: {type: LoadBalancer, loadBalancerClass: c, loadBalancerSourceRanges: [192.0.2.0/24], externalTrafficPolicy: Local, port: 8443, nodePort: 30080, labels: {a: b}, annotations: {c: d}}}`,
		"a port of each node":    `gateway: {service: {type: NodePort, externalTrafficPolicy: Cluster}}`,
		"traffic that stays":     `defaults: {service: {trafficDistribution: PreferSameZone}}`,
		"an Ingress":             `ingress: {enabled: true, className: nginx, annotations: {a: b}, hosts: [{host: a.example.com}, {host: b.example.com, paths: [{path: /v1, pathType: Exact}, {path: /x}]}], tls: [{hosts: [a.example.com], secretName: t}]}`,
		"an HTTPRoute":           `httpRoute: {enabled: true, annotations: {a: b}, parentRefs: [{name: g, namespace: gateways, sectionName: https, port: 443}], hostnames: [a.example.com], matches: [{path: {type: Exact, value: /}, headers: [{name: h, value: v}]}], filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: a, value: b}]}}], timeouts: {request: 70s, backendRequest: 65s}}`,
		"an Ingress and a route": `{ingress: {enabled: true, hosts: [{host: a.example.com}]}, httpRoute: {enabled: true, parentRefs: [{name: g}]}, gateway: {service: {port: 8000}}}`,

		"no policies":                      `{networkPolicy: {enabled: false}, migrations: {mode: job}}`,
		"no policies, and a near model":    `{networkPolicy: {enabled: false}, model: {baseURL: "http://10.0.0.1"}}`,
		"policies with ports":              `networkPolicy: {dns: {ports: [5353]}, postgres: {ports: [1]}, redis: {ports: [2]}, model: {ports: [3]}, traces: {ports: [4]}}`,
		"policies with rules":              `{gateway: {networkPolicy: {extraIngress: [{from: [{namespaceSelector: {}}], ports: [{port: 9090}]}], extraEgress: [{to: [{ipBlock: {cidr: 192.0.2.1/32}}]}]}}}`,
		"everything that is monitored":     `metrics: {podMonitor: {enabled: true, labels: {a: b}, interval: 10s, scrapeTimeout: 5s, relabelings: [{action: labeldrop, regex: a}], metricRelabelings: [{action: drop, sourceLabels: [a]}]}, rules: {enabled: true, labels: {a: b}, alertLabels: {team: t}}, dashboards: {enabled: true, annotations: {grafana_folder: Prism}}}`,
		"everything that is monitored too": `metrics: {serviceMonitor: {enabled: true, labels: {a: b}, interval: 10s, scrapeTimeout: 5s, relabelings: [{action: labeldrop, regex: a}], metricRelabelings: [{action: drop, sourceLabels: [a]}]}}`,
		"monitored without policies":       `{networkPolicy: {enabled: false, metrics: {namespace: ""}}, metrics: {serviceMonitor: {enabled: true}}}`,
	}
}

// proxy is a container that its user brings, restricted as it has to be.
const proxy = `{name: proxy, image: proxy:1, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}`

func TestMatrix(t *testing.T) {
	t.Parallel()
	for name, values := range matrix() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, with(t, values))
			invariants(t, r)
			understood(t, r)
		})
	}
}

// Everything is switched on at once, with every way to scale, to migrate and to configure Redis.
func TestMatrixOfWhatMeets(t *testing.T) {
	t.Parallel()
	axes := []map[string]string{
		{
			"replicas": `{}`,
			"HPA":      `defaults: {autoscaling: {enabled: true}}`,
			"KEDA":     `defaults: {keda: {enabled: true, triggers: [{type: cpu, metadata: {value: "70"}}]}}`,
		},
		{
			"start": `{}`,
			"init":  `migrations: {mode: initContainer, postgres: {existingSecret: owner}}`,
			"job":   `migrations: {mode: job, postgres: {existingSecret: owner}}`,
		},
		{
			"made":  `{}`,
			"given": `tokens: {results: {existingSecret: own}, modelProxy: {existingSecret: own-too}}`,
		},
		{
			"bare": `{networkPolicy: {enabled: false}}`,
			"full": `{trust: {configMap: ca}, tracing: {endpoint: "http://c:4318"}, ingress: {enabled: true, hosts: [{host: a.example.com}]}, httpRoute: {enabled: true, parentRefs: [{name: g}]}, metrics: {podMonitor: {enabled: true}, rules: {enabled: true}, dashboards: {enabled: true}}}`,
		},
	}
	combine(axes, func(names, values []string) {
		t.Run(strings.Join(names, ","), func(t *testing.T) {
			t.Parallel()
			r := render(t, with(t, values...))
			invariants(t, r)
			understood(t, r)
		})
	})
}

func combine(axes []map[string]string, do func(names, values []string), chosen ...string) {
	if len(axes) == 0 {
		var names, values []string
		for i := 0; i < len(chosen); i += 2 {
			names, values = append(names, chosen[i]), append(values, chosen[i+1])
		}
		do(names, values)
		return
	}
	for name, value := range axes[0] {
		combine(axes[1:], do, append(chosen[:len(chosen):len(chosen)], name, value)...)
	}
}

// What the repository shows its readers, and installs in its development loop, is taken.
func TestValuesThatAreShown(t *testing.T) {
	t.Parallel()
	shown := map[string]string{}
	for _, pattern := range []string{filepath.Join(folder, "examples", "*.yaml"), filepath.Join(root, "k8s", "overlays", "*", "values.yaml")} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
		for _, file := range found {
			shown[file] = readFile(t, file)
		}
	}
	blocks := strings.Split(readFile(t, folder, "README.md"), "\n```yaml\n")[1:]
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "\n```")
		if strings.HasPrefix(text, "redis:") { // one form each line
			for line := range strings.Lines(text) {
				shown["README: "+line] = minimal + strings.Replace(line, "redis: {existing", "redis: {addresses: [], existing", 1)
			}
			continue
		}
		if !strings.HasPrefix(text, "image:") { // the first is whole, others are for one topic
			text = minimal + text
		}
		shown["README: "+text] = text
	}
	if len(blocks) < 3 {
		t.Errorf("the README shows %d blocks of values", len(blocks))
	}
	for name, text := range shown {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Of a key that is there twice, the last counts here: what is shown replaces what is minimal.
			r := render(t, readValues(t, lastWins(text)))
			invariants(t, r)
			understood(t, r)
		})
	}
}

// lastWins drops the minimal line of a key that follows again.
func lastWins(text string) string {
	var kept []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(line, ":")
		again := ok && !strings.HasPrefix(key, " ") && strings.Contains("\n"+strings.Join(lines[i+1:], "\n"), "\n"+key+":")
		if !again {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
