// Command generate writes the deep copies of the custom resources, and the chart of their definitions. The schemas of what prism files,
// the API and the file of models define come from their own schemas.
//
//	go run ./api/generate ROOT
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"
)

// Where the generated files are below the repository.
const (
	types     = "services/operator/api/v1alpha1"
	templates = "charts/prism/charts/prism-crds/templates"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate ROOT")
		os.Exit(2)
	}
	if err := generate(os.Args[1], filepath.Join(os.Args[1], types), filepath.Join(os.Args[1], templates)); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes the deep copies into copies and the definitions into crds.
func generate(root, copies, crds string) error {
	plain, err := os.MkdirTemp("", "crds")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(plain) }()
	arguments := []string{"tool", "controller-gen", "object", "crd", "paths=./api/v1alpha1", "output:object:dir=" + copies, "output:crd:dir=" + plain}
	run := exec.CommandContext(context.Background(), "go", arguments...) //nolint:gosec // folders of this repository
	run.Dir = filepath.Join(root, "services/operator")
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("controller-gen: %w\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(plain, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // its own
		if err != nil {
			return err
		}
		var crd map[string]any
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return err
		}
		if err := complete(root, crd); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		written, err := yaml.Marshal(crd)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(crds, filepath.Base(file)), written, 0o600); err != nil { //nolint:gosec // its own
			return err
		}
	}
	return nil
}

// complete gives a definition the schemas that come from elsewhere, and keeps it, with all objects, when the chart is uninstalled.
func complete(root string, crd map[string]any) error {
	metadata := crd["metadata"].(map[string]any)
	metadata["annotations"].(map[string]any)["helm.sh/resource-policy"] = "keep"
	version := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	spec := at(version, "schema", "openAPIV3Schema", "properties", "spec")
	members := at(spec, "properties")
	switch crd["spec"].(map[string]any)["names"].(map[string]any)["kind"] {
	case "Prism":
		s, err := read(root, "docs/schemas/prism.schema.json")
		if err != nil {
			return err
		}
		definition := s.structural(s.root)
		splice(members, at(definition, "properties"))
		at(members, "escalate", "properties", "questions", "items")["maxLength"] = 64 // they are keys
		at(members, "name")["description"] = "What people call it. Changing it adds no version."
		at(members, "searchable")["description"] = "False leaves the results out of searches. Without it, that is not managed here."
		spec["x-kubernetes-validations"] = append(spec["x-kubernetes-validations"].([]any), definitionRules()...)
	case "PrismModels":
		s, err := read(root, "charts/prism/values.schema.json")
		if err != nil {
			return err
		}
		at(members, "models")["items"] = s.structural(at(s.root, "properties", "models", "properties", "list", "items"))
		keyed(at(members, "models"), "name")
		at(members, "default")["pattern"] = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"
	case "PrismAccount":
		s, err := read(root, "services/gateway/internal/apidoc/openapi.json")
		if err != nil {
			return err
		}
		limits := s.structural(at(s.root, "components", "schemas", "AccountLimits"))
		delete(limits, "required") // null is no limit, and so is what is not given
		splice(at(members, "limits", "properties"), at(limits, "properties"))
		member := s.structural(at(s.root, "components", "schemas", "NewMember"))
		member["x-kubernetes-validations"] = []any{rule("!(has(self.email) && has(self.claim))", "send either email or claim")}
		member["description"] = "A rule, with either `email` or `claim`."
		at(member, "properties", "email")["description"] = "Makes a rule: whoever signs in by OpenID Connect with this address, " +
			"which the provider has verified, becomes a member with the role. Not with `claim`."
		at(member, "properties", "claim")["description"] = "Makes a rule: whoever signs in by OpenID Connect with this claim becomes a member with the role."
		at(members, "members")["items"] = member
	case "PrismWebhook":
		s, err := read(root, "services/gateway/internal/apidoc/openapi.json")
		if err != nil {
			return err
		}
		splice(members, at(s.structural(at(s.root, "components", "schemas", "NewWebhook")), "properties"))
		for _, name := range []string{"status", "condition", "run_rows"} {
			given := "!has(self." + name + ")"
			if name == "run_rows" {
				given += " || !self.run_rows"
			}
			spec["x-kubernetes-validations"] = append(spec["x-kubernetes-validations"].([]any),
				rule(given+" || 'result.created' in self.events", name+" needs the event result.created"))
		}
	}
	return nil
}

// at is the object below an object.
func at(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		below, ok := o[name].(map[string]any)
		if !ok {
			panic("generate: there is no " + name)
		}
		o = below
	}
	return o
}

// splice replaces the members that both have, and fails loudly if one of the schema's is missing.
func splice(members, from map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if members[name] == nil {
			panic("generate: the Go type has no member " + name)
		}
		members[name] = from[name]
	}
}

func read(root, file string) (source, error) {
	text, err := os.ReadFile(filepath.Join(root, file)) //nolint:gosec // of this repository
	if err != nil {
		return source{}, err
	}
	var s source
	return s, errors.Join(json.Unmarshal(text, &s.root))
}

func rule(cel, message string) any { return map[string]any{"rule": cel, "message": message} }
