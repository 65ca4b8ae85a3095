{{- define "prism.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The release's name, and the chart's unless the release's contains it. Cut so that the longest suffix fits. */}}
{{- define "prism.fullname" -}}
{{- $name := include "prism.name" . -}}
{{- $full := .Values.fullnameOverride | default (ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name)) -}}
{{- $full | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/*
The services, in the order in which they are rendered. Ports are those of the binaries' own defaults; what nobody calls has none
but the admin port. "calls" has the keys of the services that a service calls, and these have "called". The context is the root.
*/}}
{{- define "prism.services" -}}
[
  {"key": "gateway", "name": "gateway", "port": 8080, "admin": 9090, "calls": ["results", "modelProxy", "console"]},
  {"key": "results", "name": "results", "port": 8081, "admin": 9091, "called": true},
  {"key": "modelProxy", "name": "model-proxy", "port": 8082, "admin": 9092, "called": true}
  {{- if .Values.runs.enabled -}}
  , {"key": "runs", "name": "runs", "admin": 9093, "calls": ["results", "modelProxy"]}
  {{- end }}
  {{- if .Values.console.enabled -}}
  , {"key": "console", "name": "console", "port": 8083, "admin": 9094, "calls": ["results"], "called": true}
  {{- end }}
  {{- if .Values.webhooks.enabled -}}
  , {"key": "webhooks", "name": "webhooks", "admin": 9095, "calls": ["results"]}
  {{- end }}
  {{- if .Values.operator.enabled -}}
  , {"key": "operator", "name": "operator", "admin": 9096, "calls": ["results"]}
  {{- end }}
]
{{- end -}}

{{/*
The tokens of calls, by the value that names their Secret: who accepts them, who shows them, and in which variable.
The context is the root.
*/}}
{{- define "prism.tokens" -}}
[
  {"key": "results", "name": "results", "variable": "PRISM_RESULTS_TOKEN", "to": "results", "from": ["gateway", "runs"]},
  {"key": "modelProxy", "name": "model-proxy", "variable": "PRISM_MODEL_PROXY_TOKEN", "to": "modelProxy", "from": ["gateway", "runs"]}
  {{- if .Values.console.enabled -}}
  , {"key": "console", "name": "console", "variable": "PRISM_CONSOLE_TOKEN", "to": "console", "from": ["gateway"]}
  , {"key": "sessions", "name": "sessions", "variable": "PRISM_RESULTS_CONSOLE_TOKEN", "to": "results", "from": ["console"]}
  {{- end }}
  {{- if .Values.webhooks.enabled -}}
  , {"key": "deliveries", "name": "deliveries", "variable": "PRISM_RESULTS_WEBHOOKS_TOKEN", "to": "results", "from": ["webhooks"]}
  {{- end }}
  {{- if .Values.operator.enabled -}}
  , {"key": "operator", "name": "operator", "variable": "PRISM_OPERATOR_TOKEN", "to": "results", "from": ["operator"]}
  {{- end }}
]
{{- end -}}

{{/*
The kinds of identities of clouds that the Pods of {root, name} show instead of passwords, as a JSON list. Results have that of AWS at
its object store without keys, too.
*/}}
{{- define "prism.identities" -}}
{{- $values := .root.Values -}}
{{- $kinds := list -}}
{{- if or (eq .name "migrate") (and (eq .name "results") (ne $values.migrations.mode "job")) -}}
{{- $postgres := include "prism.migrationsPostgres" .root | fromJson -}}
{{- $kinds = append $kinds $postgres.auth -}}
{{- range $postgres.databases -}}
{{- $kinds = append $kinds (.auth | default "") -}}
{{- end -}}
{{- end -}}
{{- if eq .name "results" -}}
{{- $kinds = append $kinds $values.postgres.auth -}}
{{- range $values.postgres.databases -}}
{{- $kinds = append $kinds (.auth | default "") -}}
{{- end -}}
{{- $aws := or (not (contains "endpoint=" $values.files.url)) (contains ".amazonaws.com" $values.files.url) -}}
{{- if and (hasPrefix "s3:" $values.files.url) $aws (not $values.files.existingSecret) -}}
{{- $kinds = append $kinds "aws" -}}
{{- end -}}
{{- else if has .name (list "gateway" "runs") -}}
{{- $kinds = append $kinds (ternary $values.redis.auth "" $values.redis.enabled) -}}
{{- else if eq .name "model-proxy" -}}
{{- range $values.models.list -}}
{{- if kindIs "map" .auth -}}
{{- $kinds = append $kinds (.auth.kind | default "") -}}
{{- end -}}
{{- end -}}
{{- $kinds = concat $kinds $values.models.identities -}}
{{- end -}}
{{- $used := list -}}
{{- range $kinds | uniq -}}
{{- if has . (list "google" "azure" "aws") -}}
{{- $used = append $used . -}}
{{- end -}}
{{- end -}}
{{- $used | toJson -}}
{{- end -}}

{{/*
The context of the templates below, made from {root, key}: the service's entry above, "values" (`defaults` merged with the
service's own), "fullname", and "root".
*/}}
{{- define "prism.service" -}}
{{- $context := dict -}}
{{- range include "prism.services" .root | fromJsonArray -}}
{{- if eq .key $.key -}}
{{- $context = . -}}
{{- end -}}
{{- end -}}
{{- $values := mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy (index .root.Values .key)) -}}
{{- $fullname := printf "%s-%s" (include "prism.fullname" .root) $context.name -}}
{{- merge (dict "values" $values "fullname" $fullname) $context | toJson -}}
{{- end -}}

{{- define "prism.selectorLabels" -}}
app.kubernetes.io/name: {{ include "prism.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/* Labels of every object. With "name" in the context: labels of a service's object. */}}
{{- define "prism.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: {{ include "prism.name" .root }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- if .name }}
{{ include "prism.selectorLabels" . }}
{{- else }}
app.kubernetes.io/name: {{ include "prism.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}
{{- end -}}

{{/* Metadata of an object: {root, called, name?, labels?, annotations?}. */}}
{{- define "prism.metadata" -}}
name: {{ .called }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- $labels := include "prism.labels" . | fromYaml }}
  {{- toYaml (mergeOverwrite (deepCopy .root.Values.commonLabels) (deepCopy (.labels | default dict)) $labels) | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (deepCopy (.annotations | default dict)) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "prism.serviceAccountName" -}}
{{- $account := .values.serviceAccount -}}
{{- $account.name | default (ternary .fullname "default" $account.create) -}}
{{- end -}}

{{- define "prism.image" -}}
{{- $image := .values.image -}}
{{- $global := .root.Values.image -}}
{{- with $image.registry | default $global.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ $image.repository }}
{{- if $image.digest -}}
@{{ $image.digest }}
{{- else -}}
:{{ $image.tag | default $global.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The Secret with an entry of prism.tokens, {root, key, name}. */}}
{{- define "prism.tokenSecret" -}}
{{- (index .root.Values.tokens .key).existingSecret | default (printf "%s-%s-token" (include "prism.fullname" .root) .name) -}}
{{- end -}}

{{/* The Secret with the certificate of a service, for calls between services; empty when the service has none. */}}
{{- define "prism.internalTLSSecret" -}}
{{- $tls := .root.Values.internalTLS -}}
{{- if and $tls.enabled (not (and (not .called) (eq $tls.stage "offer"))) -}}
{{- ternary (printf "%s-tls" .fullname) (index $tls .key).existingSecret $tls.certManager.enabled -}}
{{- end -}}
{{- end -}}
