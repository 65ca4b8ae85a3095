package chart

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	modelproxy "github.com/prism-results/prism/services/model-proxy"
)

// severalModels are values of a file of models, with prices that YAML writers like to write with exponents.
const severalModels = `
model: {provider: "", existingSecret: ""}
networkPolicy: {model: {to: [{namespaceSelector: {}}]}}
models:
  default: fast
  list:
    - name: fast
      provider: openai-chat
      base_url: http://models.models.svc:8000/v1
      model: qwen
      api_key_env: A
      headers: {x-team: support, x-from: {env: A}}
      max_in_flight: 1000000
      price: {currency: USD, input: 0.40, output: 0.000001}
      fallback: [strong]
    - {name: strong, provider: anthropic, api_key_env: A}
    - name: other
      provider: openai-chat
      host: azure
      base_url: https://x.openai.azure.com/openai/deployments/d
      model: d
      api_key_env: A
      path: /v2/chat
      query: {api-version: 2026-06-01, v: 2}
      auth: {header: x-key}
      probabilities: sampled
      limit_parameter: none
      limit: 16
      temperature: omit
      response_format: json_object
      samples: 7
      max_n: 3
      extra: {reasoning_effort: none, provider: {order: [x]}, big: 1000000}
      max_options: 20
    - {name: few, provider: openai-chat, host: fireworks, model: m, api_key_env: A, top_logprobs: 3, logprobs_parameter: logprobs, temperature: 0}
    - {name: none, provider: offline}
  secrets: {A: {secret: keys, key: fast}}
`

// spec: models-file
func TestTheFileOfModelsIsWhatModelProxyReads(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, severalModels))
	file := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(file, []byte(one[corev1.ConfigMap](t, r, "prism-models").Data["models.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	service, err := modelproxy.New(modelproxy.Config{ModelsFile: file, Getenv: func(string) string { return "key" }}, modelproxy.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	models, err := service.List(t.Context())
	if err != nil || len(models) != 5 || *models[2].Samples != 7 || models[0].Name != "fast" || !models[0].Default || models[0].Price.Output != 0.000001 ||
		!slices.Equal(models[0].Fallback, []string{"strong"}) {
		t.Errorf("got %+v, %v", models, err)
	}
}

// A file that is mounted without subPath follows its ConfigMap, and no annotation replaces the Pods.
func TestAChangeOfTheModelsRestartsNothing(t *testing.T) {
	t.Parallel()
	before, after := render(t, with(t, severalModels)), render(t, with(t, severalModels, `models: {default: strong}`))
	if one[corev1.ConfigMap](t, before, "prism-models").Data["models.yaml"] == one[corev1.ConfigMap](t, after, "prism-models").Data["models.yaml"] {
		t.Error("the file is the same")
	}
	for _, o := range of[appsv1.Deployment](before) {
		if got := workload(t, after, component(o.object)).text; got != o.text {
			t.Errorf("%s changes:\n%s", o.what, got)
		}
	}
	c := container(t, workload(t, before, "model-proxy"))
	env := environment(*c)
	i := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "models" })
	if i < 0 || c.VolumeMounts[i].SubPath != "" || filepath.Join(c.VolumeMounts[i].MountPath, "models.yaml") != env["PRISM_MODELS_FILE"] {
		t.Errorf("the file %s is mounted at %+v", env["PRISM_MODELS_FILE"], c.VolumeMounts)
	}
	for variable := range env {
		if strings.HasPrefix(variable, "PRISM_MODEL_") && !strings.HasPrefix(variable, "PRISM_MODEL_PROXY_") {
			t.Errorf("%s is set beside the file", variable)
		}
	}
	for _, name := range []string{"gateway", "results"} {
		if _, ok := environment(*container(t, workload(t, before, name)))["A"]; ok {
			t.Errorf("%s has the key of a model", name)
		}
	}
}
