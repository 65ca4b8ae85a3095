package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// attach pushes the statement about an image. An image that is labelled with another commit is an error.
func attach(ref name.Digest, b build, options []remote.Option) error {
	f, err := readImage(ref, options)
	if err != nil {
		return err
	}
	if f.revision != b.revision {
		return fmt.Errorf("its label says revision %s, not %s", f.revision, b.revision)
	}
	return store(ref, f, statementOf(f, b), options)
}

// store pushes a statement as an artifact whose subject is the image.
func store(ref name.Digest, f facts, s statement, options []remote.Option) error {
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	artifact := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), inToto)
	artifact, err = mutate.Append(artifact, mutate.Addendum{
		Layer: static.NewLayer(document, inToto), Annotations: map[string]string{predicateKey: predicateType},
	})
	if err != nil {
		return err
	}
	subject := v1.Descriptor{MediaType: f.subject.MediaType, Size: f.subject.Size, Digest: f.digest}
	artifact, ok := mutate.Subject(artifact, subject).(v1.Image)
	if !ok {
		return errors.New("the artifact is no image") // mutate.Subject returns an image for an image
	}
	digest, err := artifact.Digest()
	if err != nil {
		return err
	}
	return remote.Write(ref.Context().Digest(digest.String()), artifact, options...)
}

// verify finds the statements about an image, compares each with the image, and prints them. No statement is an error.
func verify(ref name.Digest, stdout io.Writer, options []remote.Option) error {
	f, err := readImage(ref, options)
	if err != nil {
		return err
	}
	referrers, err := remote.Referrers(ref, options...)
	if err != nil {
		return err
	}
	index, err := referrers.IndexManifest()
	if err != nil {
		return err
	}
	found := 0
	for _, m := range index.Manifests {
		if m.ArtifactType != string(inToto) {
			continue
		}
		s, err := fetch(ref.Context().Digest(m.Digest.String()), f.digest, options)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Digest, err)
		}
		if s.PredicateType != predicateType {
			continue
		}
		b := build{builder: s.Predicate.RunDetails.Builder.ID, revision: f.revision}
		if sources := s.Predicate.BuildDefinition.ResolvedDependencies; len(sources) > 0 {
			b.source = sources[0].URI
		}
		if !reflect.DeepEqual(s, statementOf(f, b)) {
			return fmt.Errorf("%s: the provenance is not that of this image", m.Digest)
		}
		found++
		_, _ = fmt.Fprintf(stdout, "%s\n  source   %s\n", ref, s.Predicate.BuildDefinition.ExternalParameters.Source)
		for _, base := range f.bases {
			_, _ = fmt.Fprintf(stdout, "  base     %s (sha256:%s)\n", base.URI, base.Digest["sha256"])
		}
		_, _ = fmt.Fprintf(stdout, "  builder  %s\n", b.builder)
		for _, s := range f.sboms {
			_, _ = fmt.Fprintf(stdout, "  SBOM     %s\n", s.Name)
		}
	}
	if found == 0 {
		return errors.New("the registry has no provenance of it")
	}
	return nil
}

// fetch reads the statement of an artifact whose subject is the image.
func fetch(ref name.Digest, of v1.Hash, options []remote.Option) (s statement, err error) {
	artifact, err := remote.Image(ref, options...)
	if err != nil {
		return s, err
	}
	manifest, err := artifact.Manifest()
	if err != nil {
		return s, err
	}
	if manifest.Subject == nil || manifest.Subject.Digest != of {
		return s, errors.New("it is about another image")
	}
	layers, err := artifact.Layers()
	if err != nil {
		return s, err
	}
	if len(layers) != 1 {
		return s, fmt.Errorf("it has %d layers", len(layers))
	}
	document, err := content(layers[0])
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(document, &s)
}
