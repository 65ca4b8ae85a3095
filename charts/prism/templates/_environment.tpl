{{/* One variable from a Secret: {variable, secret, key}. */}}
{{- define "prism.secretVariable" -}}
- name: {{ .variable }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}}}
{{- end -}}

{{/* The environment of a service. */}}
{{- define "prism.environment" -}}
- {name: PRISM_ADMIN_LISTEN, value: {{ printf ":%d" (int .admin) | quote }}}
{{- with .port }}
- {name: PRISM_LISTEN, value: {{ printf ":%d" (int .) | quote }}}
{{- end }}
- {name: PRISM_LOG_LEVEL, value: {{ .values.logLevel }}}
{{- with .values.maxInFlight }}
- {name: PRISM_MAX_IN_FLIGHT, value: {{ int . | quote }}}
{{- end }}
{{- with .values.maxConnections }}
- {name: PRISM_MAX_CONNECTIONS, value: {{ int . | quote }}}
{{- end }}
{{- if not (has .values.maxBodyBytes (list "" "0")) }}
- {name: PRISM_MAX_BODY_BYTES, value: {{ .values.maxBodyBytes | quote }}}
{{- end }}
{{- if not (has .values.maxResponseBytes (list "" "0")) }}
- {name: PRISM_MAX_RESPONSE_BYTES, value: {{ .values.maxResponseBytes | quote }}}
{{- end }}
- {name: PRISM_DRAIN_DELAY, value: {{ int .values.drainDelaySeconds }}s}
{{- include "prism.environment.tokens" . }}
{{- if include "prism.internalTLSSecret" . }}
- {name: PRISM_INTERNAL_TLS_DIR, value: /etc/prism/tls}
{{- if and .called (ne .root.Values.internalTLS.stage "require") }}
- {name: PRISM_INTERNAL_TLS_MODE, value: permissive}
{{- end }}
{{- end }}
{{ include (printf "prism.environment.%s" .name) . | trim }}
{{- include "prism.environment.identity" . }}
{{- include "prism.environment.process" . }}
{{- include "prism.environment.tracing" . }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The tokens of calls, for the service that accepts them and for those that show them. */}}
{{- define "prism.environment.tokens" -}}
{{- $service := . -}}
{{- range include "prism.tokens" .root | fromJsonArray -}}
{{- if or (eq $service.key .to) (has $service.key .from) -}}
{{- $secret := include "prism.tokenSecret" (merge (dict "root" $service.root) .) }}
{{ include "prism.secretVariable" (dict "variable" .variable "secret" $secret "key" (index $service.root.Values.tokens .key).key) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "prism.environment.gateway" -}}
{{ include "prism.environment.calls" . }}
{{- include "prism.environment.redis" . }}
{{- with .values.trustedProxies }}
- {name: PRISM_TRUSTED_PROXIES, value: {{ join "," . | quote }}}
{{- end }}
{{- end -}}

{{- define "prism.environment.runs" -}}
{{ include "prism.environment.calls" . }}
{{- include "prism.environment.redis" . }}
- {name: PRISM_RUNS_CONCURRENCY, value: {{ int .values.concurrency | quote }}}
{{- end -}}

{{- define "prism.environment.webhooks" -}}
{{ include "prism.environment.calls" . }}
- {name: PRISM_WEBHOOKS_CONCURRENCY, value: {{ int .values.concurrency | quote }}}
{{- with .values.allow }}
- {name: PRISM_WEBHOOK_ALLOW, value: {{ join "," . | quote }}}
{{- end }}
{{- end -}}

{{- define "prism.environment.operator" -}}
{{ include "prism.environment.calls" . }}
- {name: PRISM_URL, value: {{ include "prism.gatewayURL" .root | quote }}}
- {name: PRISM_OPERATOR_RELEASE, value: {{ include "prism.fullname" .root }}}
- name: PRISM_OPERATOR_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{- with .values.namespaces }}
- {name: PRISM_OPERATOR_NAMESPACES, value: {{ join "," . | quote }}}
{{- end }}
{{- if .root.Values.models.declared }}
- {name: PRISM_OPERATOR_MODEL_PROXIES, value: "{{ include "prism.modelProxyPods" .root }}.{{ .root.Release.Namespace }}:{{ (include "prism.service" (dict "root" .root "key" "modelProxy") | fromJson).admin }}"}
{{- end }}
- {name: PRISM_OPERATOR_RESYNC, value: {{ .values.resync | quote }}}
{{- end -}}

{{/* The public API, as applications in the cluster reach it. */}}
{{- define "prism.gatewayURL" -}}
{{- $gateway := include "prism.service" (dict "root" . "key" "gateway") | fromJson -}}
{{- $port := int ($gateway.values.service.port | default $gateway.port) -}}
http://{{ $gateway.fullname }}.{{ .Release.Namespace }}{{ ternary "" (printf ":%d" $port) (eq $port 80) }}
{{- end -}}

{{- define "prism.environment.console" -}}
{{ include "prism.environment.calls" . }}
{{- include "prism.environment.public" . }}
{{- with .root.Values.openid }}
{{- if .issuer }}
- {name: PRISM_OPENID_ISSUER, value: {{ .issuer | quote }}}
- {name: PRISM_OPENID_CLIENT_ID, value: {{ .clientID | quote }}}
{{ include "prism.secretVariable" (dict "variable" "PRISM_OPENID_CLIENT_SECRET" "secret" .existingSecret "key" .clientSecretKey) }}
- {name: PRISM_OPENID_SCOPES, value: {{ join " " .scopes | quote }}}
- {name: PRISM_OPENID_CLAIMS, value: {{ join " " .claims | quote }}}
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.environment.public" -}}
{{- with .root.Values.publicURL }}
- {name: PRISM_PUBLIC_URL, value: {{ . | quote }}}
{{- end }}
{{- end -}}

{{/* Where a service that calls others finds them. */}}
{{- define "prism.environment.calls" -}}
{{- $full := include "prism.fullname" .root -}}
{{- $calls := .calls -}}
{{- $scheme := ternary "https" "http" (and .root.Values.internalTLS.enabled (ne .root.Values.internalTLS.stage "offer")) -}}
{{- range include "prism.services" .root | fromJsonArray -}}
{{- if has .key $calls }}
- {name: PRISM_{{ upper .name | replace "-" "_" }}_URL, value: "{{ $scheme }}://{{ $full }}-{{ .name }}:{{ .port }}"}
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.environment.redis" -}}
{{- with .root.Values.redis }}
{{- if not .enabled }}
{{- else if .addresses }}
- {name: PRISM_REDIS_URL, value: {{ include "prism.redisURL" . | quote }}}
{{- with .auth }}
- {name: PRISM_REDIS_AUTH, value: {{ . }}}
{{- end }}
{{- with .awsCache }}
- {name: PRISM_REDIS_AWS_CACHE, value: {{ . | quote }}}
{{- end }}
{{- if .usernameKey }}
{{ include "prism.secretVariable" (dict "variable" "PRISM_REDIS_USERNAME" "secret" .existingSecret "key" .usernameKey) }}
{{- else if .username }}
- {name: PRISM_REDIS_USERNAME, value: {{ .username | quote }}}
{{- end }}
{{- if eq .auth "file" }}
- {name: PRISM_REDIS_PASSWORD_FILE, value: /etc/prism/redis/{{ .passwordKey }}}
{{- with .sentinelPasswordKey }}
- {name: PRISM_REDIS_SENTINEL_PASSWORD_FILE, value: /etc/prism/redis/{{ . }}}
{{- end }}
{{- else }}
{{- if .passwordKey }}
{{ include "prism.secretVariable" (dict "variable" "PRISM_REDIS_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}
{{- if .sentinelPasswordKey }}
{{ include "prism.secretVariable" (dict "variable" "PRISM_REDIS_SENTINEL_PASSWORD" "secret" .existingSecret "key" .sentinelPasswordKey) }}
{{- end }}
{{- end }}
{{- else }}
{{ include "prism.secretVariable" (dict "variable" "PRISM_REDIS_URL" "secret" .existingSecret "key" .urlKey) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* redis://a:6379/0, redis+sentinel://a:26379/0?addr=b:26379&master_name=m, rediss+cluster://a:6379?addr=b:6379 */}}
{{- define "prism.redisURL" -}}
{{- $scheme := ternary "rediss" "redis" .tls -}}
{{- $query := list -}}
{{- if ne .mode "standalone" -}}
{{- $scheme = printf "%s+%s" $scheme .mode -}}
{{- range rest .addresses -}}
{{- $query = append $query (printf "addr=%s" .) -}}
{{- end -}}
{{- end -}}
{{- if eq .mode "sentinel" -}}
{{- $query = append $query (printf "master_name=%s" (urlquery .masterName)) -}}
{{- end -}}
{{ $scheme }}://{{ first .addresses }}
{{- if ne .mode "cluster" }}/{{ int .database }}{{ end -}}
{{- with $query }}?{{ join "&" . }}{{ end -}}
{{- end -}}

{{- define "prism.environment.results" -}}
{{ include "prism.postgresVariables" (merge (dict "volume" "postgres") .root.Values.postgres) }}
{{- if ne .root.Values.migrations.mode "start" }}
- {name: PRISM_MIGRATIONS, value: wait}
{{- end }}
{{- if eq .root.Values.postgres.layout "citus" }}
- {name: PRISM_DATABASE_LAYOUT, value: citus}
{{- end }}
- {name: PRISM_DATABASE_MAX_CONNS, value: {{ int .values.databaseMaxConns | quote }}}
{{- with .values.synchronousCommit }}
- {name: PRISM_SYNCHRONOUS_COMMIT, value: {{ . | quote }}}
{{- end }}
{{- with .root.Values.files }}
{{- if .url }}
- {name: PRISM_FILES_URL, value: {{ .url | quote }}}
{{- end }}
{{- if .existingSecret }}
{{ include "prism.secretVariable" (dict "variable" "AWS_ACCESS_KEY_ID" "secret" .existingSecret "key" .accessKeyKey) }}
{{ include "prism.secretVariable" (dict "variable" "AWS_SECRET_ACCESS_KEY" "secret" .existingSecret "key" .secretKeyKey) }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
User and password are not part of the URL: Kubernetes would not escape special characters. The driver reads them from the
variables of libpq.
*/}}
{{- define "prism.postgresVariables" -}}
{{- if .databases -}}
- {name: PRISM_DATABASES_FILE, value: /etc/prism/databases/{{ .volume }}.yaml}
{{- else }}
{{- if .host -}}
- {name: PRISM_DATABASE_URL, value: "postgres://{{ ternary (printf "[%s]" .host) .host (contains ":" .host) }}:{{ int .port }}/{{ .database }}?sslmode={{ .sslMode }}"}
{{- if has .auth (list "" "file") }}
{{ include "prism.secretVariable" (dict "variable" "PGUSER" "secret" .existingSecret "key" .usernameKey) }}
{{- else }}
- {name: PGUSER, value: {{ .username | quote }}}
{{- end }}
{{- if not .auth }}
{{ include "prism.secretVariable" (dict "variable" "PGPASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- else if eq .auth "file" }}
- {name: PRISM_DATABASE_PASSWORD_FILE, value: /etc/prism/{{ .volume }}/{{ .passwordKey }}}
{{- end }}
{{- else if eq .auth "file" -}}
- {name: PRISM_DATABASE_URL_FILE, value: /etc/prism/{{ .volume }}/{{ .urlKey }}}
{{- else -}}
{{ include "prism.secretVariable" (dict "variable" "PRISM_DATABASE_URL" "secret" .existingSecret "key" .urlKey) }}
{{- end }}
{{- with .auth }}
- {name: PRISM_DATABASE_AUTH, value: {{ . }}}
{{- end }}
{{- end }}
{{- end -}}

{{/* The file of several databases: {volume, databases}. */}}
{{- define "prism.databasesFile" -}}
{{- $volume := .volume -}}
{{- $others := dict -}}
{{- $file := dict -}}
{{- range $name, $d := .databases -}}
{{- $host := $d.host | default "" -}}
{{- $host = ternary (printf "[%s]" $host) $host (contains ":" $host) -}}
{{- $user := $d.username | default "" | urlquery | replace "+" "%20" -}}
{{- $in := dict "url" (printf "postgres://%s@%s:%d/%s?sslmode=%s" $user $host (int ($d.port | default 5432)) ($d.database | default "prism") ($d.sslMode | default "verify-full")) -}}
{{- if eq ($d.auth | default "file") "file" -}}
{{- $in = merge $in (dict "password_file" (printf "/etc/prism/%s-%s/%s" $volume $name ($d.passwordKey | default "password"))) -}}
{{- else -}}
{{- $in = merge $in (dict "auth" $d.auth) -}}
{{- end -}}
{{- if and $d.directSecret (eq $volume "postgres") -}}
{{- $in = merge $in (dict "direct_url_file" (printf "/etc/prism/direct-%s/url" $name)) -}}
{{- end -}}
{{- if hasKey $d "accepting" -}}
{{- $in = merge $in (dict "accepting" $d.accepting) -}}
{{- end -}}
{{- if hasKey $d "weight" -}}
{{- $in = merge $in (dict "weight" (int $d.weight)) -}}
{{- end -}}
{{- if eq $name "home" -}}
{{- $file = merge $file (dict "home" $in) -}}
{{- else -}}
{{- $others = merge $others (dict $name $in) -}}
{{- end -}}
{{- end -}}
{{- merge $file (ternary dict (dict "databases" $others) (empty $others)) | toYaml -}}
{{- end -}}

{{- define "prism.databasesConfigMap" -}}
{{ include "prism.fullname" . }}-databases
{{- end -}}

{{/* What of several databases is used only after a restart: a change replaces the Pods. "" without several. */}}
{{- define "prism.databasesSet" -}}
{{- with .root.Values.postgres.databases -}}
{{- $set := list -}}
{{- range $name, $d := . -}}
{{- $set = append $set (printf "%s %s %s %s" $name ($d.auth | default "file") ($d.passwordKey | default "password") ($d.directSecret | default "")) -}}
{{- end -}}
{{- $set | toJson | sha256sum | trunc 16 -}}
{{- end -}}
{{- end -}}

{{- define "prism.environment.model-proxy" -}}
{{- with .root.Values.upstreamProxy.url -}}
- {name: PRISM_UPSTREAM_PROXY, value: environment}
- {name: HTTPS_PROXY, value: {{ . | quote }}}
- {name: NO_PROXY, value: {{ $.root.Values.upstreamProxy.except | quote }}}
{{ end -}}
{{- if or .root.Values.models.list .root.Values.models.declared -}}
- {name: PRISM_MODELS_FILE, value: /etc/prism/models/models.yaml}
{{- range $variable, $from := .root.Values.models.secrets }}
{{ include "prism.secretVariable" (dict "variable" $variable "secret" $from.secret "key" $from.key) }}
{{- end }}
{{- else -}}
{{- with .root.Values.model -}}
- {name: PRISM_MODEL_PROVIDER, value: {{ .provider | quote }}}
{{- with .baseURL }}
- {name: PRISM_MODEL_BASE_URL, value: {{ . | quote }}}
{{- end }}
{{- with .name }}
- {name: PRISM_MODEL_NAME, value: {{ . | quote }}}
{{- end }}
{{- if .existingSecret }}
{{ include "prism.secretVariable" (dict "variable" "PRISM_MODEL_API_KEY" "secret" .existingSecret "key" .apiKeyKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The Service with the addresses of all Pods of model-proxy, which the operator asks for the file of models that they use. */}}
{{- define "prism.modelProxyPods" -}}
{{ include "prism.fullname" . }}-model-proxy-pods
{{- end -}}

{{- define "prism.modelsConfigMap" -}}
{{ include "prism.fullname" . }}-models
{{- end -}}

{{/* Where the identity of the Pods of {root, name} is. */}}
{{- define "prism.environment.identity" -}}
{{- if and .root.Values.identity.awsRegion (has "aws" (include "prism.identities" . | fromJsonArray)) }}
- {name: AWS_REGION, value: {{ .root.Values.identity.awsRegion }}}
{{- end }}
{{- end -}}

{{/* Variables that the Go runtime reads. */}}
{{- define "prism.environment.process" -}}
{{- if or .root.Values.trust.configMap .root.Values.trust.secret }}
- {name: SSL_CERT_DIR, value: "/etc/ssl/certs:/etc/prism/trust"}
{{- end }}
{{- end -}}

{{- define "prism.environment.tracing" -}}
{{- with .root.Values.tracing }}
{{- if .endpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ .endpoint | quote }}}
- {name: OTEL_TRACES_SAMPLER, value: {{ .sampler | quote }}}
- {name: OTEL_TRACES_SAMPLER_ARG, value: {{ .samplerArg | toString | quote }}}
{{- if .existingSecret }}
{{ include "prism.secretVariable" (dict "variable" "OTEL_EXPORTER_OTLP_HEADERS" "secret" .existingSecret "key" .headersKey) }}
{{- end }}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{- $attributes := list "k8s.pod.name=$(POD_NAME)" "k8s.namespace.name=$(POD_NAMESPACE)" }}
{{- range $name, $value := .resourceAttributes }}
{{- $attributes = append $attributes (printf "%s=%s" $name (urlquery $value | replace "+" "%20")) }}
{{- end }}
- {name: OTEL_RESOURCE_ATTRIBUTES, value: {{ join "," $attributes | quote }}}
{{- end }}
{{- end }}
{{- end -}}

{{/* The names of all variables of a service, as a JSON list. */}}
{{- define "prism.variableNames" -}}
{{- $names := list -}}
{{- range include "prism.environment" . | fromYamlArray -}}
{{- if kindIs "map" . -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}
{{- $names | toJson -}}
{{- end -}}
