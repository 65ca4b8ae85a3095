package chart

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// images are the names of all images with their packages (spec: binaries).
var images = map[string]string{
	"prism":             "cmd/prism",
	"prism-gateway":     "services/gateway/cmd/prism-gateway",
	"prism-results":     "services/results/cmd/prism-results",
	"prism-model-proxy": "services/model-proxy/cmd/prism-model-proxy",
	"prism-runs":        "services/runs/cmd/prism-runs",
	"prism-console":     "services/console/cmd/prism-console",
	"prism-webhooks":    "services/webhooks/cmd/prism-webhooks",
	"prism-operator":    "services/operator/cmd/prism-operator",
}

// dependencies are the packages that an image is linked of.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+pkg)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

// instructions of a Dockerfile, with continued lines joined and comments left out.
func instructions(text string) []string {
	return slices.DeleteFunc(strings.Split(strings.ReplaceAll(text, "\\\n", ""), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#")
	})
}

// The Dockerfile builds each image from sources that exist and that .dockerignore lets through. An image from scratch has no
// certificate authorities, so each binary carries its own. Every way to build an image names the same Go.
func TestTheDockerfileBuildsEachImage(t *testing.T) {
	t.Parallel()
	dockerfile := readFile(t, root, "build/Dockerfile")
	ignored := instructions(readFile(t, root, ".dockerignore"))
	var sources, last []string
	for _, line := range instructions(dockerfile) {
		fields := strings.Fields(line)
		if fields[0] == "COPY" && !strings.HasPrefix(fields[1], "--from") {
			sources = append(sources, fields[1:len(fields)-1]...)
		}
		if fields[0] == "FROM" {
			last = nil
		}
		last = append(last, line)
	}
	for _, source := range sources {
		if !exists(source) || !slices.Contains(ignored, "!"+source) {
			t.Errorf("%s does not exist, or .dockerignore hides it", source)
		}
	}
	for name, pkg := range images {
		if pkg != "cmd/"+name && pkg != "services/"+strings.TrimPrefix(name, "prism-")+"/cmd/"+name {
			t.Errorf("%s is not where the Dockerfile looks for it: %s", name, pkg)
		}
		deps := dependencies(t, pkg)
		for _, dep := range deps {
			folder, own := strings.CutPrefix(dep, "github.com/prism-results/prism/")
			top, _, _ := strings.Cut(folder, "/")
			if own && !slices.ContainsFunc(sources, func(source string) bool { return strings.HasPrefix(source+"/", top+"/") }) {
				t.Errorf("%s needs %s, which is not copied", name, folder)
			}
		}
		if !slices.Contains(deps, "golang.org/x/crypto/x509roots/fallback") {
			t.Errorf("%s has no certificate authorities", name)
		}
	}
	for _, want := range []string{"FROM scratch", "USER 65532:65532", `ENTRYPOINT ["/command"]`} {
		if !slices.Contains(last, want) {
			t.Errorf("the image does not say %s", want)
		}
	}
	toolchain := regexp.MustCompile(`GOTOOLCHAIN=go(\S+)`).FindStringSubmatch(readFile(t, root, ".ko.yaml"))
	if toolchain == nil || !strings.Contains(dockerfile, "/golang:"+toolchain[1]+"-") {
		t.Errorf("the Dockerfile does not build with the Go of .ko.yaml, %q", toolchain)
	}
}

// The packages and files in the configuration of Skaffold exist, and the images that Skaffold builds are those that the
// chart's Deployments use: each has its repository and tag set, from the variables that Skaffold makes of its name.
func TestSkaffoldNamesWhatExistsAndHandsItsImagesToTheChart(t *testing.T) {
	t.Parallel()
	var s struct {
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
					ChartPath         string
					ValuesFiles       []string
					SetValueTemplates map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, root, "skaffold.yaml")), &s); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{"prism-gateway": "gateway", "prism-results": "results", "prism-model-proxy": "modelProxy", "prism-runs": "runs", "prism-console": "console", "prism-webhooks": "webhooks", "prism-operator": "operator"}
	want := map[string]string{}
	for _, a := range s.Build.Artifacts {
		if "./"+images[a.Image] != a.Ko.Main || keys[a.Image] == "" {
			t.Errorf("%s is built from %s", a.Image, a.Ko.Main)
		}
		for _, path := range a.Ko.Dependencies.Paths {
			if !exists(strings.TrimSuffix(path, "/**")) {
				t.Errorf("%s depends on %s, which does not exist", a.Image, path)
			}
		}
		if got := lookUp(theChart(t).Values, keys[a.Image]+".image.repository"); got != a.Image {
			t.Errorf("the chart's image is %v, want %s", got, a.Image)
		}
		variable := strings.ReplaceAll(a.Image, "-", "_")
		want[keys[a.Image]+".image.repository"] = "{{.IMAGE_REPO_" + variable + "}}"
		want[keys[a.Image]+".image.tag"] = "{{.IMAGE_TAG_" + variable + "}}"
	}
	release := s.Deploy.Helm.Releases[0]
	for _, file := range append(release.ValuesFiles, release.ChartPath+"/Chart.yaml") {
		if !exists(file) {
			t.Errorf("no %s", file)
		}
	}
	if got := release.SetValueTemplates; !maps.Equal(got, want) || len(want) != 2*len(keys) {
		t.Errorf("the values are set to %v, want %v", got, want)
	}
}

// What serves metrics is forwarded, from the namespace of the profile, and each image of the profile for debuggers is built for them.
func TestSkaffoldForwardsAndDebugsEveryService(t *testing.T) {
	t.Parallel()
	type patch struct {
		Path  string
		Value any
	}
	var s struct {
		Build       struct{ Artifacts []struct{ Image string } }
		PortForward []struct {
			ResourceType, ResourceName string
			Port                       int32
		} `json:"portForward"`
		Profiles []struct {
			Name    string
			Patches []patch
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, root, "skaffold.yaml")), &s); err != nil {
		t.Fatal(err)
	}
	r := render(t, with(t, "operator: {enabled: true}"))
	forwarded, patched := map[string]int32{}, map[string]bool{}
	for _, f := range s.PortForward {
		if f.ResourceType == "deployment" {
			forwarded[f.ResourceName] = f.Port
		}
	}
	for _, p := range s.Profiles {
		for _, change := range p.Patches {
			if p.Name == "debug" {
				patched[change.Path] = change.Value != nil
			}
		}
	}
	for i, a := range s.Build.Artifacts {
		w := workload(t, r, strings.TrimPrefix(a.Image, "prism-"))
		admin, ok := portOf(w, intstr.FromString("admin"))
		if !ok || forwarded[w.meta.Name] != admin {
			t.Errorf("%s is forwarded from %d, want %d", w.meta.Name, forwarded[w.meta.Name], admin)
		}
		for _, member := range []string{"flags", "ldflags"} {
			if path := fmt.Sprintf("/build/artifacts/%d/ko/%s", i, member); !patched[path] {
				t.Errorf("%s is not built for debuggers: no patch of %s", a.Image, path)
			}
		}
	}
	for i, f := range s.PortForward {
		if path := fmt.Sprintf("/portForward/%d/namespace", i); !patched[path] {
			t.Errorf("%s is forwarded from another namespace than that of the profile", f.ResourceName)
		}
	}
	if len(s.Build.Artifacts) != 7 {
		t.Errorf("%d images", len(s.Build.Artifacts))
	}
}

// Images that others made are named by digest, because a tag can be given to another image at any time.
func TestImagesOfOthersArePinned(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?m)^\s*(?:image:|defaultBaseImage:|FROM(?: --platform=\S+)?)\s+(\S+)`)
	found := 0
	for _, pattern := range []string{".ko.yaml", "build/Dockerfile", "k8s/*.yaml", "k8s/stores/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			for _, image := range named.FindAllStringSubmatch(readFile(t, file), -1) {
				if image[1] == "scratch" {
					continue
				}
				found++
				if !regexp.MustCompile(`:[^@]+@sha256:[0-9a-f]{64}$`).MatchString(image[1]) {
					t.Errorf("%s: %s has no tag and digest", file, image[1])
				}
			}
		}
	}
	if found != 4 { // distroless, golang, postgres, redis
		t.Errorf("%d images of others, want 4", found)
	}
}

// The example for production runs images by digest alone, those of init containers, Jobs and the test of the release too.
func TestProductionRunsImagesByDigest(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "migrations: {mode: job}"} {
		files, err := installation{chart: theChart(t), release: "prism"}.text(
			chartutil.MergeTables(readValues(t, mode), readValues(t, readFile(t, folder, "examples", "production.yaml"))))
		if err != nil {
			t.Fatal(err)
		}
		digests := map[string]int{}
		for name, text := range files {
			for _, image := range regexp.MustCompile(`(?m)^\s*(?:- )?image: "?([^"\s]+)`).FindAllStringSubmatch(text, -1) {
				_, digest, byDigest := strings.Cut(image[1], "@sha256:")
				if !byDigest || !strings.HasPrefix(image[1], "registry.example.com/prism/prism-") {
					t.Errorf("%s has %s", name, image[1])
				}
				digests[digest]++
			}
		}
		want := map[string]int{strings.Repeat("1", 64): 2, strings.Repeat("2", 64): 2, strings.Repeat("3", 64): 1, strings.Repeat("4", 64): 1, strings.Repeat("5", 64): 1, strings.Repeat("6", 64): 1}
		if !maps.Equal(digests, want) {
			t.Errorf("%q has images %v, want %v", mode, digests, want)
		}
	}
}
