{{/* A Pod's metadata and spec for a service's Deployment. */}}
{{- define "prism.podTemplate" -}}
metadata:
  labels:
    {{- $labels := include "prism.selectorLabels" . | fromYaml }}
    {{- toYaml (mergeOverwrite (deepCopy .root.Values.commonLabels) (deepCopy .values.podLabels) $labels) | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ .name }}
    {{- if eq .name "results" }}
    {{- with include "prism.databasesSet" . }}
    prism/databases: {{ . | quote }}
    {{- end }}
    {{- end }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "prism.podSpec" . | nindent 2 }}
  terminationGracePeriodSeconds: {{ int .values.terminationGracePeriodSeconds }}
  {{- with include "prism.topologySpreadConstraints" . | fromYamlArray }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- $initContainers := .values.extraInitContainers }}
  {{- if and (eq .name "results") (eq .root.Values.migrations.mode "initContainer") }}
  {{- $initContainers = append $initContainers (include "prism.migrateContainer" . | fromYaml) }}
  {{- end }}
  {{- with $initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "prism.image" . | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      securityContext:
        {{- toYaml .values.securityContext | nindent 8 }}
      env:
        {{- include "prism.environment" . | nindent 8 }}
      {{- with .values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- with .port }}
        - {name: http, containerPort: {{ . }}, protocol: TCP}
        {{- end }}
        - {name: admin, containerPort: {{ .admin }}, protocol: TCP}
      {{- range $probe, $path := dict "startup" "/healthz" "readiness" "/readyz" "liveness" "/healthz" }}
      {{- with index $.values.probes $probe }}
      {{ $probe }}Probe:
        httpGet: {path: {{ $path }}, port: admin}
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- if .values.preStopSleepSeconds }}
      lifecycle:
        preStop:
          sleep: {seconds: {{ int .values.preStopSleepSeconds }}}
      {{- end }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      {{- $mounts := include "prism.trustMounts" . | fromYamlArray }}
      {{- if include "prism.internalTLSSecret" . }}
      {{- $mounts = append $mounts (dict "name" "internal-tls" "mountPath" "/etc/prism/tls" "readOnly" true) }}
      {{- end }}
      {{- $models := and (eq .name "model-proxy") (or .root.Values.models.list .root.Values.models.declared) }}
      {{- if $models }}
      {{- $mounts = append $mounts (dict "name" "models" "mountPath" "/etc/prism/models" "readOnly" true) }}
      {{- end }}
      {{- $credentials := include "prism.credentialVolumes" . | trim | fromYamlArray }}
      {{- range $credentials }}
      {{- $mounts = append $mounts (dict "name" .name "mountPath" (printf "/etc/prism/%s" .name) "readOnly" true) }}
      {{- end }}
      {{- if eq .name "results" }}
      {{- $mounts = append $mounts (dict "name" "tmp" "mountPath" "/tmp") }}
      {{- end }}
      {{- with concat $mounts .values.extraVolumeMounts }}
      volumeMounts:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- with .values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- $volumes := include "prism.trustVolumes" . | fromYamlArray }}
  {{- with include "prism.internalTLSSecret" . }}
  {{- $volumes = append $volumes (dict "name" "internal-tls" "secret" (dict "secretName" .)) }}
  {{- end }}
  {{- $volumes = concat $volumes $credentials }}
  {{- if and (eq .name "results") (eq .root.Values.migrations.mode "initContainer") }}
  {{- $volumes = concat $volumes (include "prism.migrationVolumes" . | fromYamlArray) | uniq }}
  {{- end }}
  {{- if $models }}
  {{- $volumes = append $volumes (dict "name" "models" "configMap" (dict "name" (include "prism.modelsConfigMap" .root))) }}
  {{- end }}
  {{- if eq .name "results" }}
  {{- /* The texts of large workbooks are in a file while a file is read; the root file system is read-only. */}}
  {{- $volumes = append $volumes (dict "name" "tmp" "emptyDir" (ternary dict (dict "sizeLimit" .values.temporaryLimit) (empty .values.temporaryLimit))) }}
  {{- end }}
  {{- with concat $volumes .values.extraVolumes }}
  volumes:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The part of the Pod spec that services and migrations share. */}}
{{- define "prism.podSpec" -}}
automountServiceAccountToken: {{ has .name (list "operator" "operator-finalizers") }}
# Kubernetes would describe every Service of the namespace in variables, whose names may begin with PRISM_ as well.
enableServiceLinks: false
securityContext:
  {{- toYaml .values.podSecurityContext | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
serviceAccountName: {{ include "prism.serviceAccountName" . }}
{{- end -}}

{{- define "prism.topologySpreadConstraints" -}}
{{- $ours := dict "labelSelector" (dict "matchLabels" (include "prism.selectorLabels" . | fromYaml)) "matchLabelKeys" (list "pod-template-hash") -}}
{{- $constraints := list -}}
{{- range .values.topologySpreadConstraints -}}
{{- $constraints = append $constraints (ternary . (merge (deepCopy .) $ours) (hasKey . "labelSelector")) -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end -}}

{{/* The migration container, of the init container and of the Job. It has the volumes of results. */}}
{{- define "prism.migrateContainer" -}}
name: migrate
image: {{ include "prism.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [migrate]
securityContext:
  {{- toYaml .values.securityContext | nindent 2 }}
env:
  {{- include "prism.postgresVariables" (merge (dict "volume" "postgres-migrate") (include "prism.migrationsPostgres" .root | fromJson)) | nindent 2 }}
  {{- include "prism.environment.identity" (dict "root" .root "name" "migrate") | trim | nindent 2 }}
  {{- include "prism.environment.process" . | trim | nindent 2 }}
  {{- with .values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
{{- $mounts := include "prism.trustMounts" . | fromYamlArray }}
{{- range include "prism.migrationVolumes" . | fromYamlArray }}
{{- $mounts = append $mounts (dict "name" .name "mountPath" (printf "/etc/prism/%s" .name) "readOnly" true) }}
{{- end }}
{{- with concat $mounts .values.extraVolumeMounts }}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The volume of a Secret: {name, secret}. */}}
{{- define "prism.secretVolume" -}}
- {name: {{ .name }}, secret: {secretName: {{ .secret }}}}
{{- end -}}

{{/* The files of credentials of a service, by volume. */}}
{{- define "prism.credentialVolumes" -}}
{{- $values := .root.Values -}}
{{- if eq .name "results" }}
{{- if $values.postgres.databases }}
{{ include "prism.databasesVolumes" (dict "root" .root "volume" "postgres" "databases" $values.postgres.databases) }}
{{- else if eq $values.postgres.auth "file" }}
{{ include "prism.secretVolume" (dict "name" "postgres" "secret" $values.postgres.existingSecret) }}
{{- end }}
{{- end }}
{{- if and (has .name (list "gateway" "runs")) $values.redis.enabled (eq $values.redis.auth "file") }}
{{ include "prism.secretVolume" (dict "name" "redis" "secret" $values.redis.existingSecret) }}
{{- end }}
{{- end -}}

{{/* The file of the credentials of migrations. */}}
{{- define "prism.migrationVolumes" -}}
{{- $postgres := include "prism.migrationsPostgres" .root | fromJson -}}
{{- if $postgres.databases -}}
{{ include "prism.databasesVolumes" (dict "root" .root "volume" "postgres-migrate" "databases" $postgres.databases) }}
{{- else if eq $postgres.auth "file" -}}
{{ include "prism.secretVolume" (dict "name" "postgres-migrate" "secret" $postgres.existingSecret) }}
{{- end -}}
{{- end -}}

{{/* The file of several databases, and those of their passwords: {root, volume, databases}. */}}
{{- define "prism.databasesVolumes" -}}
- {name: databases, configMap: {name: {{ include "prism.databasesConfigMap" .root }}}}
{{- $volume := .volume }}
{{- range $name, $d := .databases }}
{{- if eq ($d.auth | default "file") "file" }}
{{ include "prism.secretVolume" (dict "name" (printf "%s-%s" $volume $name) "secret" $d.existingSecret) }}
{{- end }}
{{- if and $d.directSecret (eq $volume "postgres") }}
{{ include "prism.secretVolume" (dict "name" (printf "direct-%s" $name) "secret" $d.directSecret) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "prism.migrationsPostgres" -}}
{{- mergeOverwrite (deepCopy .Values.postgres) (deepCopy .Values.migrations.postgres) | toJson -}}
{{- end -}}

{{- define "prism.trustVolumes" -}}
{{- $trust := .root.Values.trust -}}
{{- if or $trust.configMap $trust.secret -}}
- name: trust
  projected:
    sources:
      {{- with $trust.configMap }}
      - configMap: {name: {{ . }}}
      {{- end }}
      {{- with $trust.secret }}
      - secret: {name: {{ . }}}
      {{- end }}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{- define "prism.trustMounts" -}}
{{- if or .root.Values.trust.configMap .root.Values.trust.secret -}}
- {name: trust, mountPath: /etc/prism/trust, readOnly: true}
{{- else -}}
[]
{{- end -}}
{{- end -}}
