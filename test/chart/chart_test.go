package chart

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const (
	folder    = "../../charts/prism"
	root      = "../.."
	namespace = "prism"
)

// minimal are the least values that the chart takes: those of the README.
const minimal = `
image: {registry: registry.example.com/prism}
postgres: {existingSecret: prism-postgres, host: postgres.example.com}
redis: {addresses: ["redis.example.com:6379"]}
model: {provider: openai-decisions, existingSecret: prism-model}
`

var loaded = sync.OnceValues(func() (*chart.Chart, error) { return loader.LoadDir(folder) })

// theChart is the folder as Helm packs it. All tests share the chart, so no test may change it.
func theChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// with lays values over the minimal ones, each over those before, as Helm does with several files.
func with(t *testing.T, over ...string) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, text := range append([]string{minimal}, over...) {
		values = chartutil.MergeTables(readValues(t, text), values)
	}
	return values
}

func readValues(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// installation is how a chart is rendered.
type installation struct {
	chart   *chart.Chart
	release string
	cluster cluster
}

// text renders every file, or says why Helm would refuse.
func (i installation) text(values map[string]any) (map[string]string, error) {
	c, err := i.resolved(values)
	if err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: i.release, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities.Copy())
	if err != nil {
		return nil, err
	}
	return engine.RenderWithClientProvider(c, all, i.cluster)
}

// resolved is the chart with those of its charts that the values switch on. Helm writes into the chart that it resolves, so it gets a copy.
func (i installation) resolved(values map[string]any) (*chart.Chart, error) {
	c, metadata := *i.chart, *i.chart.Metadata
	c.Metadata, metadata.Dependencies = &metadata, nil
	for _, d := range i.chart.Metadata.Dependencies {
		dependency := *d
		metadata.Dependencies = append(metadata.Dependencies, &dependency)
	}
	var below []*chart.Chart
	for _, d := range i.chart.Dependencies() {
		sub := *d
		below = append(below, &sub)
	}
	c.SetDependencies(below...)
	return &c, chartutil.ProcessDependenciesWithMerge(&c, values)
}

// render is the release "prism" of the values, on a cluster that has nothing.
func render(t *testing.T, values map[string]any) rendering {
	t.Helper()
	return installation{chart: theChart(t), release: "prism"}.render(t, values)
}

func (i installation) render(t *testing.T, values map[string]any) rendering {
	t.Helper()
	files, err := i.text(values)
	if err != nil {
		t.Fatal(err)
	}
	r := rendering{release: i.release, values: values}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(file, "NOTES.txt") {
			r.notes = files[file]
			continue
		}
		for d := range strings.SplitSeq("\n"+files[file], "\n---") {
			if strings.TrimSpace(withoutComments(d)) == "" {
				continue
			}
			o, err := decode([]byte(d))
			if err != nil {
				t.Fatalf("%s: %v\n%s", file, err, d)
			}
			o.text = strings.TrimSpace(d)
			if strings.HasSuffix(o.kind, " CustomResourceDefinition") { // of a chart of its own, as they are generated
				r.crds = append(r.crds, o)
				continue
			}
			if o.kind == "v1 Pod" { // of `helm test`, and no part of the release
				r.tests = append(r.tests, o)
				continue
			}
			if strings.HasPrefix(o.meta.Annotations["helm.sh/hook"], "post-") { // beside a release that ends or changes
				r.hooks = append(r.hooks, o)
				continue
			}
			r.objects = append(r.objects, o)
		}
	}
	return r
}

func withoutComments(s string) string {
	var kept strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "#") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// refused is why the values are refused; "" when they are not.
func refused(t *testing.T, values map[string]any) string {
	t.Helper()
	_, err := installation{chart: theChart(t), release: "prism"}.text(values)
	if err == nil {
		return ""
	}
	return err.Error()
}

// cluster answers the chart's lookups with these objects, by kind and name, and with nothing else.
type cluster map[string]map[string]any

func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return client{cluster: c, kind: apiVersion + " " + kind}, true, nil
}

// client of one kind. A call of anything but Get has no implementation, and panics.
type client struct {
	dynamic.NamespaceableResourceInterface
	cluster   cluster
	kind      string
	namespace string
}

func (c client) Namespace(name string) dynamic.ResourceInterface {
	c.namespace = name
	return c
}

func (c client) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	if o, ok := c.cluster[c.kind+" "+name]; ok && c.namespace == namespace {
		return &unstructured.Unstructured{Object: o}, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: c.kind}, name)
}

// rendering is a release that would be installed.
type rendering struct {
	release string
	values  map[string]any
	notes   string
	objects []object
	crds    []object // of the chart prism-crds
	tests   []object // Pods of `helm test`
	hooks   []object // of what happens after a release or its operator
}

// of are the objects of one type, such as corev1.Service.
func of[T any](r rendering) []named[T] {
	var found []named[T]
	for _, o := range r.objects {
		if it, ok := o.it.(*T); ok {
			found = append(found, named[T]{object: o, it: it})
		}
	}
	return found
}

type named[T any] struct {
	object
	it *T
}

// one is the object of a type and a name.
func one[T any](t *testing.T, r rendering, name string) *T {
	t.Helper()
	var names []string
	for _, o := range of[T](r) {
		if o.meta.Name == name {
			return o.it
		}
		names = append(names, o.meta.Name)
	}
	t.Fatalf("there is no %T %s, only %q", *new(T), name, names)
	return nil
}

// workloads are the objects that make Pods.
func workloads(r rendering) []object {
	return slices.DeleteFunc(slices.Clone(r.objects), func(o object) bool { return o.template == nil })
}

// component of a service's or the migration's object, by its label.
func component(o object) string { return o.meta.Labels["app.kubernetes.io/component"] }

// workload is the Pods' maker of a component.
func workload(t *testing.T, r rendering, name string) object {
	t.Helper()
	for _, o := range workloads(r) {
		if component(o) == name {
			return o
		}
	}
	t.Fatalf("nothing makes Pods of %s", name)
	return object{}
}

// container is the one that the chart makes, called as its component.
func container(t *testing.T, o object) *corev1.Container {
	t.Helper()
	for i, c := range o.template.Spec.Containers {
		if c.Name == component(o) {
			return &o.template.Spec.Containers[i]
		}
	}
	t.Fatalf("%s has no container %s", o.what, component(o))
	return nil
}

// ours are the containers that the chart makes, also for migrations, by "component/container".
func ours(o object) map[string]corev1.Container {
	found := map[string]corev1.Container{}
	for _, c := range slices.Concat(o.template.Spec.InitContainers, o.template.Spec.Containers) {
		if c.Name == component(o) || c.Name == "migrate" {
			found[component(o)+"/"+c.Name] = c
		}
	}
	return found
}

// environment of a container: values, and "SECRET/KEY" where it comes from a Secret.
func environment(c corev1.Container) map[string]string {
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
		if from := e.ValueFrom; from != nil && from.SecretKeyRef != nil {
			env[e.Name] = from.SecretKeyRef.Name + "/" + from.SecretKeyRef.Key
		}
	}
	return env
}

func readFile(t *testing.T, elements ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lookUp finds a value by its path.
func lookUp(values map[string]any, path string) any {
	var at any = values
	for key := range strings.SplitSeq(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[key]
	}
	return at
}

// nested is a value at a path: nested("a.b", 1) is {a: {b: 1}}.
func nested(path string, value any) map[string]any {
	keys := strings.Split(path, ".")
	for _, key := range slices.Backward(keys) {
		value = map[string]any{key: value}
	}
	m, ok := value.(map[string]any)
	if !ok {
		panic(fmt.Sprintf("%q is no path", path))
	}
	return m
}
