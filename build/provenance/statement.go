package main

import "github.com/google/go-containerregistry/pkg/v1/types"

// The names of the formats.
const (
	inToto = types.MediaType("application/vnd.in-toto+json")

	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	predicateKey  = "in-toto.io/predicate-type" // annotation of the layer
	// buildType is the page that defines the fields of externalParameters and says how to repeat the build.
	buildType = "https://github.com/prism-results/prism/blob/main/SECURITY.md#releases"
)

// statement is an in-toto statement about one image.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

// resource is a resource descriptor of in-toto. Digest has a hexadecimal digest for each algorithm.
type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType          string `json:"buildType"`
		ExternalParameters struct {
			Source    string   `json:"source"`    // of the repository and commit
			Image     string   `json:"image"`     // such as prism-gateway
			Platforms []string `json:"platforms"` // such as linux/amd64
		} `json:"externalParameters"`
		ResolvedDependencies []resource `json:"resolvedDependencies"` // the source, then the base images
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Byproducts []resource `json:"byproducts"` // the SBOMs
	} `json:"runDetails"`
}

// build is what only the builder knows.
type build struct{ source, revision, builder string }

// statementOf makes the statement about an image.
func statementOf(f facts, b build) statement {
	s := statement{Type: statementType, PredicateType: predicateType}
	s.Subject = []resource{{Name: f.title, Digest: digestSet(f.digest)}}
	p := &s.Predicate
	p.BuildDefinition.BuildType = buildType
	p.BuildDefinition.ExternalParameters.Source = b.source + "@" + b.revision
	p.BuildDefinition.ExternalParameters.Image = f.title
	p.BuildDefinition.ExternalParameters.Platforms = f.platforms
	source := resource{URI: b.source, Digest: map[string]string{"gitCommit": b.revision}}
	p.BuildDefinition.ResolvedDependencies = append([]resource{source}, f.bases...)
	p.RunDetails.Builder.ID = b.builder
	p.RunDetails.Byproducts = f.sboms
	return s
}
