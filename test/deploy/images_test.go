package deploy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instructions of a Dockerfile, with continued lines joined and comments left out.
func instructions(b []byte) []string {
	var all []string
	for _, line := range strings.Split(strings.ReplaceAll(string(b), "\\\n", ""), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

const dockerfile = "build/Dockerfile"

// The Dockerfile builds each image from sources that exist and that .dockerignore lets through.
func TestTheDockerfileCopiesWhatItBuilds(t *testing.T) {
	t.Parallel()
	ignored := instructions(read(t, ".dockerignore"))
	var sources, last []string
	for _, line := range instructions(read(t, dockerfile)) {
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
	for name, pkg := range images() {
		if pkg != "cmd/"+name && pkg != "services/"+strings.TrimPrefix(name, "prism-")+"/cmd/"+name {
			t.Errorf("%s is not where the Dockerfile looks for it: %s", name, pkg)
		}
		out, err := command(t, nil, "go", "list", "-deps", "./"+pkg)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for dep := range strings.FieldsSeq(out) {
			folder, own := strings.CutPrefix(dep, "github.com/prism-results/prism/")
			if own && !slices.Contains(sources, strings.Split(folder, "/")[0]) {
				t.Errorf("%s needs %s, which is not copied", name, folder)
			}
		}
	}
	for _, want := range []string{"FROM scratch", "USER 65532:65532", `ENTRYPOINT ["/command"]`} {
		if !slices.Contains(last, want) {
			t.Errorf("the image does not say %s", want)
		}
	}
}

// Images are the same whoever builds them, so every way to build them names the same Go.
func TestImagesAreBuiltWithOneGo(t *testing.T) {
	t.Parallel()
	toolchain := regexp.MustCompile(`GOTOOLCHAIN=go(\S+)`).FindStringSubmatch(string(read(t, ".ko.yaml")))
	if toolchain == nil {
		t.Fatal(".ko.yaml names no toolchain")
	}
	if !strings.Contains(string(read(t, dockerfile)), "/golang:"+toolchain[1]+"-") {
		t.Errorf("%s does not build with Go %s", dockerfile, toolchain[1])
	}
}

// An image from scratch has no certificate authorities, so each binary carries its own.
func TestBinariesCarryCertificateAuthorities(t *testing.T) {
	t.Parallel()
	for name, pkg := range images() {
		read(t, pkg+"/main.go") // so that Go knows what the test depends on
		out, err := command(t, []string{"GOFLAGS="}, "go", "list", "-deps", "./"+pkg)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !slices.Contains(strings.Fields(out), "golang.org/x/crypto/x509roots/fallback") {
			t.Errorf("%s has none", name)
		}
	}
}
