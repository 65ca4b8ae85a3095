{{/* Each problem is one line: the value, what is wrong, and what to do. */}}
{{- define "prism.problems" -}}
{{ include "prism.problems.postgres" . }}
{{ include "prism.problems.redis" . }}
{{ include "prism.problems.model" . }}
{{ include "prism.problems.files" . }}
{{ include "prism.problems.openid" . }}
{{ include "prism.problems.exposure" . }}
{{ include "prism.problems.metrics" . }}
{{ include "prism.problems.internalTLS" . }}
{{- range include "prism.tokens" . | fromJsonArray }}
{{- if eq (index $.Values.tokens .key).existingSecret (printf "%s-%s-token" (include "prism.fullname" $) .name) }}
  tokens.{{ .key }}.existingSecret: names the Secret that the chart makes itself, which would then be removed; copy its token to a Secret of another name
{{- end }}
{{- end }}
{{- if and .Values.tracing.existingSecret (not .Values.tracing.endpoint) }}
  tracing.existingSecret: has headers for a collector, but tracing.endpoint is empty
{{- end }}
{{- if .Values.models.declared }}
{{- if not .Values.operator.enabled }}
  models.declared: needs operator.enabled, which writes the file of models
{{- end }}
{{- if .Values.models.list }}
  models: has both a list and declared; the models of the list belong into a PrismModels
{{- end }}
{{- end }}
{{- range include "prism.services" . | fromJsonArray }}
{{- $service := include "prism.service" (dict "root" $ "key" .key) | fromJson }}
{{- $_ := set $service "root" $ }}
{{ include "prism.problems.service" $service }}
{{- end }}
{{- end -}}

{{- define "prism.problems.postgres" -}}
{{- with .Values.postgres }}
{{- if .databases }}
{{- if not (hasKey .databases "home") }}
  postgres.databases: has no home, the database that has the directory
{{- end }}
{{- if or .existingSecret .auth .username .host (ne .layout "one") }}
  postgres: existingSecret, auth, username, host and layout are not used with postgres.databases, which has them for each database
{{- end }}
{{- range $name, $d := .databases }}
{{- if not (and $d.host $d.username) }}
  postgres.databases.{{ $name }}: host and username are required
{{- end }}
{{- if and (eq ($d.auth | default "file") "file") (not $d.existingSecret) }}
  postgres.databases.{{ $name }}.existingSecret: is required: the Secret with the password
{{- end }}
{{- if and (ne ($d.auth | default "file") "file") $d.existingSecret }}
  postgres.databases.{{ $name }}.existingSecret: is not used with auth {{ $d.auth }}, which needs no password
{{- end }}
{{- end }}
{{- range $name, $d := $.Values.migrations.postgres.databases }}
{{- if not (hasKey $.Values.postgres.databases $name) }}
  migrations.postgres.databases.{{ $name }}: is no database of postgres.databases
{{- end }}
{{- end }}
{{- else if has .auth (list "" "file") }}
{{- if not .existingSecret }}
  postgres.existingSecret: is required: the Secret with the credentials of Postgres
{{- end }}
{{- if .username }}
  postgres.username: is used with an identity in postgres.auth only; the Secret has the user, under postgres.usernameKey
{{- end }}
{{- else }}
{{- if .existingSecret }}
  postgres.existingSecret: is not used with postgres.auth {{ .auth }}, which needs no password
{{- end }}
{{- if not (and .host .username) }}
  postgres.host: is required with postgres.auth {{ .auth }}, and postgres.username too
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.migrations }}
{{- if and .postgres (eq .mode "start") }}
  migrations.postgres: is not used when each replica migrates at its start; set migrations.mode to initContainer or job
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.problems.redis" -}}
{{- with .Values.redis }}
{{- if .enabled }}
{{- if not (or .addresses .existingSecret) }}
  redis: is required: set redis.addresses, or redis.existingSecret to a Secret with the URL; a single gateway can do with redis.enabled=false
{{- end }}
{{- if and .addresses (not .existingSecret) (or .usernameKey .passwordKey .sentinelPasswordKey) }}
  redis.existingSecret: is required: redis.usernameKey, passwordKey and sentinelPasswordKey are keys of it
{{- end }}
{{- if and (not .addresses) (or .usernameKey .passwordKey .sentinelPasswordKey) }}
  redis.addresses: is empty, so the whole URL is read from the Secret, and usernameKey, passwordKey and sentinelPasswordKey are not used
{{- end }}
{{- if and .addresses .existingSecret (not (or .usernameKey .passwordKey .sentinelPasswordKey)) }}
  redis.existingSecret: is not used with redis.addresses unless passwordKey names a key of it; or leave redis.addresses empty, and the URL is read from it
{{- end }}
{{- if eq .auth "file" }}
{{- if not (and .addresses .passwordKey) }}
  redis.auth: file needs redis.addresses, and the password in redis.passwordKey
{{- end }}
{{- else if .auth }}
{{- if not (and .addresses .tls) }}
  redis.auth: {{ .auth }} needs redis.addresses and redis.tls
{{- end }}
{{- if or .existingSecret .usernameKey .passwordKey }}
  redis.existingSecret: is not used with redis.auth {{ .auth }}, which needs no password
{{- end }}
{{- if and (ne .auth "google") (not .username) }}
  redis.username: is required with redis.auth {{ .auth }}
{{- end }}
{{- end }}
{{- if ne (eq .auth "aws") (not (empty .awsCache)) }}
  redis.awsCache: is required with redis.auth aws, and used with it only
{{- end }}
{{- if and .username (has .auth (list "" "file")) }}
  redis.username: is used with an identity in redis.auth only; the Secret has the user, under redis.usernameKey
{{- end }}
{{- if and .usernameKey (not .passwordKey) }}
  redis.passwordKey: is required with redis.usernameKey
{{- end }}
{{- if and (eq .mode "standalone") (gt (len (.addresses | default list)) 1) }}
  redis.addresses: are several, which needs redis.mode sentinel or cluster
{{- end }}
{{- if and (ne .mode "sentinel") .sentinelPasswordKey }}
  redis.sentinelPasswordKey: is used in redis.mode sentinel only
{{- end }}
{{- if and (eq .mode "sentinel") .addresses (not .masterName) }}
  redis.masterName: is required in redis.mode sentinel
{{- end }}
{{- if and (eq .mode "cluster") (ne (int .database) 0) }}
  redis.database: a cluster has database 0 only
{{- end }}
{{- else if or .addresses .existingSecret }}
  redis.enabled: is false, but redis.addresses or redis.existingSecret is set
{{- end }}
{{- end }}
{{- if not .Values.redis.enabled }}
{{- $gateway := (include "prism.service" (dict "root" $ "key" "gateway") | fromJson).values }}
{{- if or (gt (int $gateway.replicas) 1) $gateway.autoscaling.enabled $gateway.keda.enabled }}
  redis.enabled: is false, which is right for one gateway alone: set gateway.replicas to 1 and no autoscaler, or give it a Redis
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.problems.model" -}}
{{- $model := .Values.model -}}
{{- if .Values.models.list }}
{{ include "prism.problems.models" . }}
{{- else if .Values.models.declared }}
{{- else if or .Values.models.default .Values.models.secrets }}
  models.list: is empty, so models.default and models.secrets are not used
{{- else if not $model.provider }}
  model.provider: is required: systemone, openai-decisions, openai-chat, anthropic, or offline
{{- else if eq $model.provider "offline" }}
{{- if or $model.baseURL $model.name $model.existingSecret }}
  model.provider: offline asks no model, so model.baseURL, model.name and model.existingSecret are not used
{{- end }}
{{- else }}
{{- if and (eq $model.provider "openai-chat") (not $model.name) }}
  model.name: is required by openai-chat
{{- end }}
{{- if not (or $model.existingSecret $model.baseURL) }}
  model.existingSecret: is required by the address of {{ $model.provider }} itself; a server of your own is named by model.baseURL
{{- end }}
{{ include "prism.problems.modelInside" (dict "root" . "value" "model.baseURL" "url" $model.baseURL) }}
{{- end }}
{{- end -}}

{{/* An address inside, which the default policy does not let model-proxy reach: {root, value, url}. */}}
{{- define "prism.problems.modelInside" -}}
{{- $host := regexReplaceAll ":[0-9]+$" (urlParse .url).host "" }}
{{- $inside := and .url (or (not (contains "." $host)) (regexMatch "\\.svc(\\.|$)|\\.(local|internal)$|^10\\.|^192\\.168\\.|^172\\.(1[6-9]|2[0-9]|3[01])\\." $host)) }}
{{- $policy := .root.Values.networkPolicy }}
{{- if and $inside (not (contains ":" $host)) $policy.enabled (dig "ipBlock" "except" list (first $policy.model.to | default dict)) }}
  networkPolicy.model.to: lets model-proxy reach public addresses only, but {{ .value }} is inside; set it to where {{ $host }} is, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: models}}}], and networkPolicy.model.ports to the port of its Pods
{{- end }}
{{- end -}}

{{- define "prism.problems.models" -}}
{{- $models := .Values.models -}}
{{- with .Values.model }}
{{- if or .provider .baseURL .name .existingSecret }}
  model: is not used with models.list; empty model.provider, baseURL, name and existingSecret
{{- end }}
{{- end }}
{{- $names := list }}
{{- range $models.list }}
{{- if has .name $names }}
  models.list: has two models with the name {{ .name }}
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- if not (has $models.default $names) }}
  models.default: must be the name of a model of models.list
{{- end }}
{{- $service := (include "prism.service" (dict "root" . "key" "modelProxy") | fromJson).values }}
{{- $known := keys $models.secrets }}
{{- range $service.extraEnv }}
{{- $known = append $known .name }}
{{- end }}
{{- range $model := $models.list }}
{{- range $model.fallback }}
{{- if or (eq . $model.name) (not (has . $names)) }}
  models.list: {{ $model.name }} has the fallback {{ . }}, which is no other model
{{- end }}
{{- end }}
{{- $variables := list }}
{{- with $model.api_key_env }}
{{- $variables = append $variables . }}
{{- end }}
{{- range $model.headers }}
{{- if and (kindIs "map" .) (hasKey . "env") }}
{{- $variables = append $variables .env }}
{{- end }}
{{- end }}
{{- range $variables | uniq }}
{{- if not (or (has . $known) $service.extraEnvFrom) }}
  models.secrets: has no {{ . }}, which the model {{ $model.name }} names
{{- end }}
{{- end }}
{{ include "prism.problems.modelInside" (dict "root" $ "value" (printf "base_url of the model %s" $model.name) "url" ($model.base_url | default "")) }}
{{- end }}
{{- end -}}

{{- define "prism.problems.files" -}}
{{- if and .Values.files.existingSecret (not .Values.files.url) }}
  files.existingSecret: has the credentials of an object store, but files.url is empty, so files are in the database
{{- end }}
{{- end -}}

{{- define "prism.problems.openid" -}}
{{- with .Values.openid }}
{{- if .issuer }}
{{- if not $.Values.console.enabled }}
  openid.issuer: is not used, as console.enabled is false
{{- end }}
{{- if not $.Values.publicURL }}
  publicURL: is required with openid.issuer: the address that browsers come back to
{{- end }}
{{- if not (and .clientID .existingSecret) }}
  openid.clientID and openid.existingSecret: are required with openid.issuer
{{- end }}
{{- if not (has "openid" .scopes) }}
  openid.scopes: must have openid
{{- end }}
{{- else if or .clientID .existingSecret }}
  openid.issuer: is empty, so openid.clientID and openid.existingSecret are not used
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.problems.exposure" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
  ingress.hosts: is required with ingress.enabled
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
  httpRoute.parentRefs: is required with httpRoute.enabled: the Gateways that it belongs to
{{- end }}
{{- with .Values.gateway.service }}
{{- if and (ne .type "LoadBalancer") (or .loadBalancerClass .loadBalancerSourceRanges) }}
  gateway.service: loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer
{{- end }}
{{- if and (eq .type "ClusterIP") (or .nodePort .externalTrafficPolicy) }}
  gateway.service: nodePort and externalTrafficPolicy need type NodePort or LoadBalancer
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.problems.internalTLS" -}}
{{- $tls := .Values.internalTLS -}}
{{- if and $tls.enabled $tls.certManager.enabled (not $tls.certManager.issuerRef.name) }}
  internalTLS.certManager.issuerRef: is required with internalTLS.certManager.enabled: the name of the Issuer, and its kind
{{- end }}
{{- if and $tls.certManager.enabled (not $tls.enabled) }}
  internalTLS.enabled: is false, but internalTLS.certManager.enabled is true
{{- end }}
{{- range include "prism.services" . | fromJsonArray }}
{{- $secret := (index $tls .key).existingSecret }}
{{- if and $tls.enabled (not $tls.certManager.enabled) (not $secret) }}
  internalTLS.{{ .key }}.existingSecret: is required with internalTLS.enabled, unless internalTLS.certManager asks for the certificates
{{- end }}
{{- if and $tls.certManager.enabled $secret }}
  internalTLS.{{ .key }}.existingSecret: is not used, as internalTLS.certManager asks for the certificate
{{- end }}
{{- if and $secret (not $tls.enabled) }}
  internalTLS.enabled: is false, but internalTLS.{{ .key }}.existingSecret is set
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.problems.metrics" -}}
{{- $metrics := .Values.metrics -}}
{{- if and $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled }}
  metrics: serviceMonitor and podMonitor would both scrape each Pod; enable one
{{- end }}
{{- if and (or $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled) .Values.networkPolicy.enabled (not .Values.networkPolicy.metrics.namespace) }}
  networkPolicy.metrics.namespace: is empty, so nobody may scrape; set it to the namespace of Prometheus
{{- end }}
{{- end -}}

{{- define "prism.problems.service" -}}
{{- $key := .key -}}
{{- $v := .values -}}
{{- $scaled := or $v.autoscaling.enabled $v.keda.enabled -}}
{{- if and .root.Values.image.requireDigest (not $v.image.digest) }}
  {{ $key }}.image.digest: is required by image.requireDigest; `make images` prints it behind the @
{{- end }}
{{- if and $v.autoscaling.enabled $v.keda.enabled }}
  {{ $key }}: autoscaling and keda would both scale; enable one
{{- end }}
{{- range $name, $scaler := dict "autoscaling" $v.autoscaling "keda" $v.keda }}
{{- if and $scaler.enabled (gt (int $scaler.minReplicas) (int $scaler.maxReplicas)) }}
  {{ $key }}.{{ $name }}.minReplicas: is above maxReplicas
{{- end }}
{{- end }}
{{- if and $v.autoscaling.enabled (not (or $v.autoscaling.targetCPU $v.autoscaling.targetMemory $v.autoscaling.metrics $v.autoscaling.metric)) }}
  {{ $key }}.autoscaling: has nothing to scale by; set targetCPU, targetMemory or metrics
{{- end }}
{{- range $resource, $target := dict "cpu" (ternary $v.autoscaling.targetCPU 0 (empty $v.autoscaling.metric)) "memory" $v.autoscaling.targetMemory }}
{{- if and $v.autoscaling.enabled $target (not (dig "requests" $resource "" ($v.resources | default dict))) }}
  {{ $key }}.resources.requests.{{ $resource }}: is required: the autoscaler's target is a percentage of it
{{- end }}
{{- end }}
{{- if and $v.keda.enabled (not $v.keda.triggers) }}
  {{ $key }}.keda.triggers: is required with keda.enabled
{{- end }}
{{- if $v.pdb.enabled }}
{{- $fewest := $v.pdb.minAvailable }}
{{- $none := kindIs "invalid" $v.pdb.maxUnavailable }}
{{- if and (not (kindIs "invalid" $fewest)) (not $none) }}
  {{ $key }}.pdb: has both minAvailable and maxUnavailable; set maxUnavailable to null
{{- else if and (kindIs "invalid" $fewest) $none }}
  {{ $key }}.pdb: needs minAvailable or maxUnavailable
{{- end }}
{{- $replicas := int $v.replicas }}
{{- if $v.autoscaling.enabled }}{{ $replicas = int $v.autoscaling.minReplicas }}{{ end }}
{{- if $v.keda.enabled }}{{ $replicas = int $v.keda.minReplicas }}{{ end }}
{{- if or (eq (toString $fewest) "100%") (and (kindIs "float64" $fewest) (ge (int $fewest) $replicas)) }}
  {{ $key }}.pdb.minAvailable: is all of the {{ $replicas }} replicas, so that no node could ever be drained
{{- end }}
{{- if has (toString $v.pdb.maxUnavailable) (list "0" "0%") }}
  {{ $key }}.pdb.maxUnavailable: is 0, so that no node could ever be drained
{{- end }}
{{- end }}
{{- $stop := add (int $v.preStopSleepSeconds) (int $v.drainDelaySeconds) 35 }}
{{- if lt (int $v.terminationGracePeriodSeconds) (int $stop) }}
  {{ $key }}.terminationGracePeriodSeconds: is {{ int $v.terminationGracePeriodSeconds }}, but stopping takes up to {{ $stop }}: preStopSleepSeconds, drainDelaySeconds, and 35 for the calls under way
{{- end }}
{{- $seen := dict }}
{{- range include "prism.variableNames" . | fromJsonArray }}
{{- if hasKey $seen . }}
  {{ $key }}.extraEnv: sets {{ . }}, which is set already; values has a place for what the chart sets
{{- end }}
{{- $_ := set $seen . true }}
{{- end }}
{{- end -}}
