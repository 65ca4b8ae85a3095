package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// facts are what the registry says about an image.
type facts struct {
	digest    v1.Hash
	subject   v1.Descriptor
	title     string
	revision  string // the commit that the labels name
	platforms []string
	bases     []resource
	sboms     []resource
}

const label = "org.opencontainers.image."

// readImage reads the image, or every image of the index, and the SBOM of each.
func readImage(ref name.Digest, options []remote.Option) (facts, error) {
	desc, err := remote.Get(ref, options...)
	if err != nil {
		return facts{}, err
	}
	f := facts{digest: desc.Digest, subject: desc.Descriptor}
	parts := []v1.Hash{desc.Digest}
	if desc.MediaType.IsIndex() {
		index, err := desc.ImageIndex()
		if err != nil {
			return f, err
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			return f, err
		}
		for _, m := range manifest.Manifests {
			img, err := index.Image(m.Digest)
			if err != nil {
				return f, err
			}
			if err := f.add(img); err != nil {
				return f, err
			}
			parts = append(parts, m.Digest)
		}
	} else {
		img, err := desc.Image()
		if err != nil {
			return f, err
		}
		if err := f.add(img); err != nil {
			return f, err
		}
	}
	for _, digest := range parts {
		s, err := sbom(ref.Context(), digest, options)
		if err != nil {
			return f, fmt.Errorf("SBOM of %s: %w", digest, err)
		}
		f.sboms = append(f.sboms, s)
	}
	return f, nil
}

// add reads one platform's image. Platforms with different titles or commits are an error.
func (f *facts) add(img v1.Image) error {
	config, err := img.ConfigFile()
	if err != nil {
		return err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return err
	}
	title, revision := config.Config.Labels[label+"title"], config.Config.Labels[label+"revision"]
	if len(f.platforms) > 0 && (title != f.title || revision != f.revision) {
		return fmt.Errorf("the platforms are of %s %s and %s %s", f.title, f.revision, title, revision)
	}
	f.title, f.revision = title, revision
	platform := config.Platform()
	if platform == nil {
		return errors.New("the image names no platform")
	}
	f.platforms = append(f.platforms, platform.String())
	digest, err := v1.NewHash(manifest.Annotations[label+"base.digest"])
	if err != nil {
		return fmt.Errorf("the digest of the base image: %w", err)
	}
	base := resource{URI: manifest.Annotations[label+"base.name"], Digest: digestSet(digest)}
	if !slices.ContainsFunc(f.bases, func(b resource) bool { return b.URI == base.URI && b.Digest["sha256"] == digest.Hex }) {
		f.bases = append(f.bases, base)
	}
	return nil
}

// sbom reads the SBOM of an image from the tag under which ko and cosign keep it. An SBOM about something else is an error.
func sbom(repository name.Repository, of v1.Hash, options []remote.Option) (resource, error) {
	tag := repository.Tag(of.Algorithm + "-" + of.Hex + ".sbom")
	img, err := remote.Image(tag, options...)
	if err != nil {
		return resource{}, err
	}
	layers, err := img.Layers()
	if err != nil {
		return resource{}, err
	}
	if len(layers) != 1 {
		return resource{}, fmt.Errorf("it has %d layers", len(layers))
	}
	document, err := content(layers[0])
	if err != nil {
		return resource{}, err
	}
	if !strings.Contains(string(document), `"`+of.String()+`"`) {
		return resource{}, errors.New("it does not name the image")
	}
	digest, err := layers[0].Digest()
	return resource{Name: tag.TagStr(), Digest: digestSet(digest)}, err
}

// content reads a layer. Bytes that do not have the layer's digest are an error.
func content(layer v1.Layer) (b []byte, err error) {
	r, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}

func digestSet(h v1.Hash) map[string]string { return map[string]string{h.Algorithm: h.Hex} }
