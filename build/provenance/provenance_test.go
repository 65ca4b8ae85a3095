package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// serve starts a registry, with or without the API of referrers, and returns a repository of it.
func serve(t *testing.T, referrers bool) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(referrers)))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/prism"
}

const (
	source  = "git+https://example.com/prism"
	builder = "https://example.com/ci"
	commit  = "0123456789abcdef0123456789abcdef01234567"
)

// image is a random image with the labels and annotations of ko.
func image(t *testing.T, revision string) v1.Image {
	t.Helper()
	img, err := random.Image(16, 1)
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "amd64"
	config.Config.Labels = map[string]string{label + "title": "prism-gateway", label + "revision": revision}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		t.Fatal(err)
	}
	base := "sha256:" + strings.Repeat("b", 64)
	return mutate.Annotations(img, map[string]string{
		label + "base.name": "registry.example.com/base@" + base, label + "base.digest": base,
	}).(v1.Image)
}

// push pushes an image with an SBOM that names the digest of, as ko does, and returns its reference.
func push(t *testing.T, repository string, img v1.Image, of v1.Hash) string {
	t.Helper()
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	write(t, repository+"@"+digest.String(), img)
	writeSBOM(t, repository, digest, of)
	return repository + "@" + digest.String()
}

func write(t *testing.T, at string, img v1.Image) {
	t.Helper()
	ref, err := name.ParseReference(at)
	if err == nil {
		err = remote.Write(ref, img, remote.WithContext(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func writeSBOM(t *testing.T, repository string, digest, of v1.Hash) {
	t.Helper()
	layer := static.NewLayer(fmt.Appendf(nil, `{"name":"sbom-%s","of":"%s"}`, of, of), "text/spdx+json")
	sbom, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	write(t, repository+":sha256-"+digest.Hex+".sbom", sbom)
}

func digestOf(t *testing.T, img v1.Image) v1.Hash {
	t.Helper()
	h, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func attached(t *testing.T, revision, ref string) error {
	t.Helper()
	args := []string{"attach", "-source", source, "-revision", revision, "-builder", builder, ref}
	return run(t.Context(), args, io.Discard)
}

func verified(t *testing.T, ref string) (string, error) {
	t.Helper()
	var printed bytes.Buffer
	err := run(t.Context(), []string{"verify", ref}, &printed)
	return printed.String(), err
}

func TestWhatWasAttachedIsVerified(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{true, false} {
		repository := serve(t, referrers)
		img := image(t, commit)
		ref := push(t, repository, img, digestOf(t, img))
		for range 2 { // the second time changes nothing
			if err := attached(t, commit, ref); err != nil {
				t.Fatal(err)
			}
		}
		printed, err := verified(t, ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{ref, source + "@" + commit, "registry.example.com/base@sha256:bbb", builder, ".sbom"} {
			if strings.Count(printed, want) != 1 {
				t.Errorf("printed %q, without %q once", printed, want)
			}
		}
	}
}

func TestAnIndexOfPlatformsHasOneStatement(t *testing.T) {
	t.Parallel()
	repository := serve(t, true)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for range 2 {
		img := image(t, commit)
		push(t, repository, img, digestOf(t, img))
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img})
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewDigest(repository + "@" + digest.String())
	if err == nil {
		err = remote.WriteIndex(ref, index, remote.WithContext(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	writeSBOM(t, repository, digest, digest)
	if err := attached(t, commit, ref.String()); err != nil {
		t.Fatal(err)
	}
	printed, err := verified(t, ref.String())
	if err != nil || strings.Count(printed, "SBOM") != 3 || strings.Count(printed, "base ") != 1 {
		t.Errorf("%v, printed %q", err, printed)
	}
}

// A statement that is missing, false or about something else is not one, nor is such an SBOM.
func TestWhatIsFalseIsRefused(t *testing.T) {
	t.Parallel()
	repository := serve(t, true)
	other := image(t, commit)
	for _, c := range []struct {
		name, want string
		make       func() (ref string, err error)
	}{
		{"another commit is claimed", "its label says revision " + commit, func() (string, error) {
			img := image(t, commit)
			return "", attached(t, strings.Repeat("f", 40), push(t, repository, img, digestOf(t, img)))
		}},
		{"no statement", "has no provenance", func() (string, error) {
			img := image(t, commit)
			return push(t, repository, img, digestOf(t, img)), nil
		}},
		{"an SBOM of another image", "SBOM of sha256:", func() (string, error) {
			return "", attached(t, commit, push(t, repository, image(t, commit), digestOf(t, other)))
		}},
		{"a statement about another image", "is not that of this image", func() (string, error) {
			img := image(t, commit)
			ref := push(t, repository, img, digestOf(t, img))
			return ref, forged(t, ref, func(s *statement) { s.Subject[0].Digest["sha256"] = digestOf(t, other).Hex })
		}},
		{"another base", "is not that of this image", func() (string, error) {
			img := image(t, commit)
			ref := push(t, repository, img, digestOf(t, img))
			return ref, forged(t, ref, func(s *statement) { s.Predicate.BuildDefinition.ResolvedDependencies[1].URI = "base" })
		}},
		{"an SBOM that was replaced since", "is not that of this image", func() (string, error) {
			img := image(t, commit)
			ref := push(t, repository, img, digestOf(t, img))
			return ref, forged(t, ref, func(s *statement) { s.Predicate.RunDetails.Byproducts[0].Digest["sha256"] = "00" })
		}},
		{"an image that is not there", "MANIFEST_UNKNOWN", func() (string, error) {
			return repository + "@" + digestOf(t, other).String(), nil
		}},
	} {
		ref, err := c.make()
		if err == nil {
			_, err = verified(t, ref)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// forged attaches a statement that change made false.
func forged(t *testing.T, at string, change func(*statement)) error {
	t.Helper()
	ref, err := name.NewDigest(at)
	if err != nil {
		return err
	}
	options := []remote.Option{remote.WithContext(t.Context())}
	f, err := readImage(ref, options)
	if err != nil {
		return err
	}
	s := statementOf(f, build{source: source, revision: commit, builder: builder})
	change(&s)
	return store(ref, f, s, options)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil,
		{"attach", "a@b"},
		{"verify"},
		{"sign", "a"},
		{"verify", "registry.example.com/by-tag:v1"},
		{"verify", "-source", "a", "b"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
