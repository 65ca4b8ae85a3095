package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestTheScriptThatPushesImagesAttachesTheirProvenance runs scripts/images.sh with a ko that notes its arguments and names an
// image that the registry has already. The revision of a changed tree is that of no commit.
func TestTheScriptThatPushesImagesAttachesTheirProvenance(t *testing.T) {
	t.Parallel()
	revision := git(t, "rev-parse", "HEAD")
	if strings.HasSuffix(git(t, "describe", "--always", "--dirty"), "-dirty") {
		revision += "-dirty"
	}
	repository := serve(t, true)
	img := image(t, revision)
	ref := push(t, repository, img, digestOf(t, img))
	ko := filepath.Join(t.TempDir(), "ko")
	script := "#!/bin/sh\necho \"$KO_DEFAULTBASEIMAGE $*\" >" + ko + ".args\necho " + ref + "\n"
	if err := os.WriteFile(ko, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "../../scripts/images.sh", "prism-gateway")
	cmd.Env = append(cmd.Environ(), "KO="+ko, "KO_DOCKER_REPO="+repository, "BASE=registry.example.com/base",
		"PLATFORMS=linux/amd64", "BUILDER="+builder)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != ref+"\n" {
		t.Fatalf("%v, printed %q, want the reference", err, out)
	}
	args, err := os.ReadFile(ko + ".args")
	if err != nil {
		t.Fatal(err)
	}
	const labels = " --image-label org.opencontainers.image."
	for _, want := range []string{
		"registry.example.com/base build ", "--platform linux/amd64", "--sbom spdx",
		labels + "title=prism-gateway", labels + "revision=" + revision + " ", " ./services/gateway/cmd/prism-gateway\n",
	} {
		if !strings.Contains(string(args), want) {
			t.Errorf("ko has the arguments %q, without %q", args, want)
		}
	}
	printed, err := verified(t, ref)
	from := "source   git+https://github.com/prism-results/prism@" + revision + "\n"
	for _, want := range []string{from, "builder  " + builder + "\n"} {
		if err != nil || !strings.Contains(printed, want) {
			t.Errorf("%v, printed %q, want %q", err, printed, want)
		}
	}
}

// TestMakeImages pushes an image as a release does, with the real ko. Built again from the base that the provenance names, it has
// the same digest, which is how SECURITY.md checks an image without trust in its registry.
func TestMakeImages(t *testing.T) {
	t.Parallel()
	if os.Getenv("PRISM_TEST_IMAGES") == "" {
		t.Skip("compiles ko, which takes minutes; make verify sets PRISM_TEST_IMAGES")
	}
	repository := serve(t, true)
	pushed := func(repository, base string) (ref, digest string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "images", "IMAGES=prism-model-proxy")
		cmd.Dir = "../.."
		cmd.Env = append(cmd.Environ(), "KO_DOCKER_REPO="+repository, "BASE="+base, "PLATFORMS=linux/amd64")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		ref = strings.TrimSpace(string(out))
		_, digest, _ = strings.Cut(ref, "@")
		return ref, digest
	}
	ref, first := pushed(repository, "empty")
	printed, err := verified(t, ref)
	_, base, found := strings.Cut(printed, "  base     ")
	if err != nil || !found {
		t.Fatalf("%v, printed %q", err, printed)
	}
	base, _, _ = strings.Cut(base, " ")
	if again, second := pushed(repository+"/again", base); first == "" || first != second {
		t.Errorf("built as %s and as %s", ref, again)
	}
}
