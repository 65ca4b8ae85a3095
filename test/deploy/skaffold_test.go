package deploy

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// skaffold is what the tests look at; the schema knows the rest.
type skaffold struct {
	Build struct {
		Artifacts []struct {
			Image string
			Ko    struct {
				Main         string
				Dependencies struct{ Paths []string }
			}
		}
	}
	Deploy struct {
		Helm struct {
			Releases []struct {
				Name, Namespace, ChartPath string
				ValuesFiles                []string
				SetValueTemplates          map[string]string
			}
		}
	}
	PortForward []struct {
		ResourceType, ResourceName, Namespace string
		Port                                  int
	}
	Profiles []struct {
		Name    string
		Patches []patch
	}
}

type patch struct {
	Op, Path string
	Value    any
}

func skaffoldSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	s, err := c.Compile("testdata/skaffold-v4beta13.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// configuration is skaffold.yaml as a profile leaves it; "" is none.
func configuration(t *testing.T, profile string) map[string]any {
	t.Helper()
	config := parse[map[string]any](t, read(t, "skaffold.yaml"))
	for _, p := range decode[skaffold](t, config).Profiles {
		if p.Name != profile {
			continue
		}
		for _, patch := range p.Patches {
			apply(t, config, patch)
		}
	}
	return config
}

// apply is RFC 6902's add and replace of members; Skaffold refuses a patch whose place is not there, and so does this.
func apply(t *testing.T, config any, p patch) {
	t.Helper()
	steps := strings.Split(strings.TrimPrefix(p.Path, "/"), "/")
	last := steps[len(steps)-1]
	at := config
	for _, step := range steps[:len(steps)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			at = v[index(t, p, step, len(v))]
		}
	}
	switch v := at.(type) {
	case map[string]any:
		if _, there := v[last]; there != (p.Op == "replace") {
			t.Fatalf("%s %s: there is %v", p.Op, p.Path, v[last])
		}
		v[last] = p.Value
	case []any:
		if p.Op != "replace" {
			t.Fatalf("%s %s: a list", p.Op, p.Path)
		}
		v[index(t, p, last, len(v))] = p.Value
	default:
		t.Fatalf("%s %s leads nowhere", p.Op, p.Path)
	}
}

func index(t *testing.T, p patch, step string, length int) int {
	t.Helper()
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= length {
		t.Fatalf("%s %s: %s is not there", p.Op, p.Path, step)
	}
	return i
}

func decode[T any](t *testing.T, v any) T {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var into T
	if err := json.Unmarshal(b, &into); err != nil {
		t.Fatal(err)
	}
	return into
}

func profiles(t *testing.T) []string {
	t.Helper()
	names := []string{""}
	for _, p := range decode[skaffold](t, configuration(t, "")).Profiles {
		names = append(names, p.Name)
	}
	return names
}

func TestSkaffoldIsValidWithEachProfile(t *testing.T) {
	t.Parallel()
	schema := skaffoldSchema(t)
	names := profiles(t)
	if want := []string{"", "local", "debug", "production"}; !slices.Equal(names, want) {
		t.Errorf("profiles %q, want %q", names, want)
	}
	for _, name := range names {
		if err := schema.Validate(decode[any](t, configuration(t, name))); err != nil {
			t.Errorf("profile %q: %v", name, err)
		}
	}
}

func TestSchemaRefusesAMisspeltField(t *testing.T) {
	t.Parallel()
	b := bytes.Replace(read(t, "skaffold.yaml"), []byte("chartPath:"), []byte("chartpath:"), 1)
	if err := skaffoldSchema(t).Validate(parse[any](t, b)); err == nil {
		t.Error("it was accepted")
	}
}

// The packages and files in the configuration of Skaffold exist, with and without each profile.
func TestSkaffoldNamesWhatExists(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles(t) {
		s := decode[skaffold](t, configuration(t, profile))
		var built []string
		for _, a := range s.Build.Artifacts {
			built = append(built, a.Image)
			if "./"+images()[a.Image] != a.Ko.Main || !exists(filepath.Join(a.Ko.Main, "main.go")) {
				t.Errorf("%q: %s is built from %s", profile, a.Image, a.Ko.Main)
			}
			for _, path := range a.Ko.Dependencies.Paths {
				if !exists(strings.TrimSuffix(path, "/**")) {
					t.Errorf("%q: %s depends on %s, which does not exist", profile, a.Image, path)
				}
			}
		}
		if want := []string{"prism-gateway", "prism-results", "prism-model-proxy"}; !slices.Equal(built, want) {
			t.Errorf("%q builds %v, want %v", profile, built, want)
		}
		for _, r := range s.Deploy.Helm.Releases {
			if !exists(filepath.Join(r.ChartPath, "Chart.yaml")) {
				t.Errorf("%q: no chart %s", profile, r.ChartPath)
			}
			for _, f := range r.ValuesFiles {
				if !exists(f) {
					t.Errorf("%q: no values %s", profile, f)
				}
			}
		}
	}
}

// The images that Skaffold builds are those that the chart's Deployments use: each has its repository and tag set, from
// the variables that Skaffold makes of its name.
func TestSkaffoldHandsItsImagesToTheChart(t *testing.T) {
	t.Parallel()
	values := chartValues(t)
	s := decode[skaffold](t, configuration(t, ""))
	want := map[string]string{}
	for _, service := range services() {
		image := service.image
		if got := lookUp(values, service.key+".image.repository"); got != image {
			t.Errorf("the chart's %s is %v, want %s", service.key, got, image)
		}
		variable := regexp.MustCompile(`[-/]`).ReplaceAllString(image, "_")
		want[service.key+".image.repository"] = "{{.IMAGE_REPO_" + variable + "}}"
		want[service.key+".image.tag"] = "{{.IMAGE_TAG_" + variable + "}}"
	}
	got := s.Deploy.Helm.Releases[0].SetValueTemplates
	for name, template := range want {
		if got[name] != template {
			t.Errorf("%s is set to %q, want %q", name, got[name], template)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d values are set, want %d: %v", len(got), len(want), got)
	}
}

func TestPortsThatAreForwardedAreTheServices(t *testing.T) {
	t.Parallel()
	values := chartValues(t)
	public, err := json.Marshal(lookUp(values, "gateway.service.port"))
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range profiles(t) {
		s := decode[skaffold](t, configuration(t, profile))
		release := s.Deploy.Helm.Releases[0]
		want := []string{"service prism-gateway " + string(public)}
		for _, service := range services() {
			want = append(want, "deployment "+service.image+" "+strconv.Itoa(service.admin))
		}
		var got []string
		for _, f := range s.PortForward {
			got = append(got, f.ResourceType+" "+f.ResourceName+" "+strconv.Itoa(f.Port))
			if f.Namespace != release.Namespace {
				t.Errorf("%q: %s is forwarded in %s, and the release is in %s", profile, f.ResourceName, f.Namespace, release.Namespace)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q forwards %q, want %q", profile, got, want)
		}
	}
}

// service is one of the three of the chart. A release called prism names its objects as the images are named.
type service struct {
	key, image string
	admin      int
}

func services() []service {
	return []service{{"gateway", "prism-gateway", 9090}, {"results", "prism-results", 9091}, {"modelProxy", "prism-model-proxy", 9092}}
}

func TestServicesAreTheChartsOwn(t *testing.T) {
	t.Parallel()
	names := string(read(t, "charts/prism/templates/_names.tpl"))
	for _, s := range services() {
		entry := regexp.MustCompile(`\{"key": "` + s.key + `", "name": "` + strings.TrimPrefix(s.image, "prism-") + `", "port": \d+, "admin": ` + strconv.Itoa(s.admin) + `\}`)
		if !entry.MatchString(names) {
			t.Errorf("the chart has no %s", entry)
		}
	}
}

func chartValues(t *testing.T) map[string]any {
	t.Helper()
	return parse[map[string]any](t, read(t, "charts/prism/values.yaml"))
}

// lookUp follows a path with dots.
func lookUp(values map[string]any, path string) any {
	var at any = values
	for _, step := range strings.Split(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[step]
	}
	return at
}

// Values are merged with the chart's as Helm does and held against the chart's schema. That the chart accepts them
// together is for its own tests.
func TestValuesKeepToTheChartsSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "charts/prism/values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	valid := func(b []byte) error {
		return schema.Validate(decode[any](t, merge(chartValues(t), parse[map[string]any](t, b))))
	}
	for _, f := range files(t, "k8s", "/values.yaml") {
		b := read(t, f)
		if err := valid(b); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		misspelt := bytes.Replace(b, []byte("existingSecret"), []byte("existingsecret"), 1)
		if valid(misspelt) == nil {
			t.Errorf("%s: existingsecret was accepted", f)
		}
	}
}

func merge(under, over map[string]any) map[string]any {
	for k, v := range over {
		m, isMap := v.(map[string]any)
		u, wasMap := under[k].(map[string]any)
		if isMap && wasMap {
			v = merge(u, m)
		}
		under[k] = v
	}
	return under
}
