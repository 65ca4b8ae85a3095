package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crds "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	kyaml "sigs.k8s.io/yaml"

	"github.com/prism-results/prism/docs/schemas/schematest"
)

const root = "../../../.."

// resource is a custom resource, by which objects are checked as the API server checks them.
type resource struct {
	definition *apiextensions.CustomResourceDefinition
	structural *schema.Structural
	plain      validation.SchemaValidator
	rules      *cel.Validator
}

func open(t *testing.T, name string) resource {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, templates, "prism.dev_"+name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var outer v1.CustomResourceDefinition
	if err := kyaml.UnmarshalStrict(text, &outer); err != nil {
		t.Fatal(err)
	}
	v1.SetObjectDefaults_CustomResourceDefinition(&outer)
	r := resource{definition: &apiextensions.CustomResourceDefinition{}}
	if err := v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&outer, r.definition, nil); err != nil {
		t.Fatal(err)
	}
	validated := r.definition.Spec.Validation
	if validated == nil {
		validated = r.definition.Spec.Versions[0].Schema
	}
	if r.structural, err = schema.NewStructural(validated.OpenAPIV3Schema); err != nil {
		t.Fatal(err)
	}
	if r.plain, _, err = validation.NewSchemaValidator(validated.OpenAPIV3Schema); err != nil {
		t.Fatal(err)
	}
	r.rules = cel.NewValidator(r.structural, true, celconfig.PerCallLimit)
	return r
}

// refuses is what is wrong with an object, and with what it was before if that is given; "" if nothing is.
func (r resource) refuses(t *testing.T, text string, was ...string) string {
	t.Helper()
	parse := func(text string) map[string]any {
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		var o map[string]any
		if err == nil {
			err = kyaml.Unmarshal(asJSON, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := parse(text)
	defaulting.PruneNonNullableNullsWithoutDefaults(o, r.structural)
	defaulting.Default(o, r.structural)
	unknown := pruning.PruneWithOptions(o, r.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	var old any
	for _, w := range was {
		old = parse(w)
	}
	problems := validation.ValidateCustomResource(nil, o, r.plain)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, r.structural, o)...)
	if len(problems) == 0 {
		broken, _ := r.rules.Validate(context.Background(), nil, r.structural, o, old, celconfig.RuntimeCELCostBudget)
		problems = append(problems, broken...)
	}
	said := strings.Join(unknown, ", ")
	if err := problems.ToAggregate(); err != nil {
		said += err.Error()
	}
	return said
}

// TestTheAPIServerTakesTheDefinitions has the API server's own checks of definitions: structural schemas, and the cost of rules.
func TestTheAPIServerTakesTheDefinitions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"prisms", "prismkeys", "prismaccounts", "prismmodels", "prismwebhooks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, name)
			r.definition.Status.StoredVersions = []string{"v1alpha1"}
			if err := crds.ValidateCustomResourceDefinition(t.Context(), r.definition).ToAggregate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTheSchemaOfPrismsSaysWhatPrismSays holds the schema against the definitions by which the JSON schema is held against the server.
// spec: declared-schema
func TestTheSchemaOfPrismsSaysWhatPrismSays(t *testing.T) {
	t.Parallel()
	r := open(t, "prisms")
	refused := 0
	for _, c := range schematest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			text := "apiVersion: prism.dev/v1alpha1\nkind: Prism\nmetadata: {name: x}\nspec:\n  account: acme" +
				strings.ReplaceAll(strings.TrimRight(c.Text("case"), "\n"), "\n", "\n  ") + "\n"
			said := r.refuses(t, text)
			if c.Want == schematest.Beyond && said != "" {
				refused++ // more than a JSON schema could: the server refuses it too
			} else if (said != "") != (c.Want == schematest.Wrong || c.Want == schematest.Strict) && c.Want != schematest.Beyond {
				t.Errorf("the schema says %q", said)
			}
		})
	}
	if refused < 3 {
		t.Errorf("rules and keys of lists refuse only %d definitions beyond the JSON schema", refused)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const (
		prism   = "metadata: {name: x}\nspec: {account: a, slug: s, fields: [{key: f}], questions: [{key: q, type: yes_no, text: T}]}"
		key     = "metadata: {name: x}\nspec: {account: a, role: editor, secretName: s}"
		account = "metadata: {name: x}\nspec: {name: A}"
		models  = "metadata: {name: x}\nspec: {default: a, models: [{name: a, provider: offline}]}"
		webhook = "metadata: {name: x}\nspec: {account: a, secretName: s, url: 'https://a.example', events: [result.created]}"
	)
	for _, c := range []struct {
		kind, name, old, new, base string
		want                       string // a part of what is said
		changed                    bool   // the base is what was before
	}{
		{"prisms", "as it is", "", "", prism, "", false},
		{"prisms", "another slug", "slug: s", "slug: z", prism, "slug can't change", true},
		{"prisms", "another account", "account: a", "account: z", prism, "account can't change", true},
		{"prisms", "no account", "account: a, ", "", prism, "spec.account: Required value", false},
		{"prisms", "a policy that there is not", "account: a", "account: a, deletionPolicy: Delete", prism, "deletionPolicy: Unsupported value", false},
		{"prisms", "Overwrite", "account: a", "account: a, driftPolicy: Overwrite, deletionPolicy: Archive, retentionDays: 3650, drift: {watched: true}", prism, "", false},
		{"prisms", "a retention of no day", "account: a", "account: a, retentionDays: 0", prism, "retentionDays: Invalid value", false},
		{"prisms", "an escalation to the model itself", "account: a", "account: a, model: m, escalate: {to: m, below: 0.5}", prism, "another model", false},
		{"prisms", "an escalation of no question", "account: a", "account: a, escalate: {to: m, below: 0.5, questions: [z]}", prism, "keys of questions", false},
		{"prisms", "a column of no question", "account: a", "account: a, lens: {columns: [{name: c, question: z, show: answer}]}", prism, "must show questions of the prism", false},
		{"prisms", "an example", "account: a", "account: a, examples: [{fields: {f: x}, answers: {q: true}}]", prism, "", false},
		{"prisms", "an example that answers nothing", "account: a", "account: a, examples: [{fields: {f: x}, answers: {}}]", prism, "at least 1", false},
		{"prismkeys", "as it is", "", "", key, "", false},
		{"prismkeys", "an owner", "editor", "owner", key, "role: Unsupported value", false},
		{"prismkeys", "another Secret", "secretName: s", "secretName: z", key, "secretName can't change", true},
		{"prismkeys", "a rotation", "role: editor", "role: editor, expiresIn: 720h, rotateEvery: 168h, overlap: 1h", key, "", false},
		{"prismkeys", "a key that ends before it is replaced", "role: editor", "role: editor, expiresIn: 24h, rotateEvery: 24h", key, "keys end while they are used", false},
		{"prismkeys", "no duration", "role: editor", "role: editor, rotateEvery: often", key, "rotateEvery", false},
		{"prismaccounts", "as it is", "", "", account, "", false},
		{"prismaccounts", "limits", "name: A", "name: A, limits: {requests_per_second: 5}, allowedNamespaces: [a, b]", account, "", false},
		{"prismaccounts", "a limit of nothing", "name: A", "name: A, limits: {concurrency: 0}", account, "concurrency: Invalid value", false},
		{"prismaccounts", "a namespace twice", "name: A", "name: A, allowedNamespaces: [a, a]", account, "Duplicate value", false},
		{"prismaccounts", "a rule with an address", "name: A", "name: A, members: [{name: n, role: reader, email: a@b.example, claim: {name: groups, value: g}}]", account, "either email or claim", false},
		{"prismmodels", "as it is", "", "", models, "", false},
		{"prismmodels", "a default that there is not", "default: a", "default: z", models, "must be the name of a model", false},
		{"prismmodels", "a model twice", "[{name: a, provider: offline}", "[{name: a, provider: offline}, {name: a, provider: offline}", models, "Duplicate value", false},
		{"prismmodels", "a misspelled member", "provider: offline", "provider: offline, max_inflight: 3", models, "max_inflight", false},
		{"prismmodels", "a provider that there is not", "provider: offline", "provider: x", models, "provider: Unsupported value", false},
		{"prismmodels", "headers of a text or a file", "provider: offline", "provider: offline, headers: {a: b, c: {file: /f}}", models, "", false},
		{"prismwebhooks", "as it is", "", "", webhook, "", false},
		{"prismwebhooks", "an event that there is not", "result.created", "result.made", webhook, "Unsupported value", false},
		{"prismwebhooks", "a status without the event", "[result.created]", "[run.started], status: ok", webhook, "needs the event result.created", false},
		{"prismwebhooks", "rows without the event, but not asked for", "[result.created]", "[run.started], run_rows: false", webhook, "", false},
	} {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(c.base, c.old) {
				t.Fatal("nothing is changed")
			}
			var was []string
			if c.changed {
				was = []string{c.base}
			}
			said := open(t, c.kind).refuses(t, strings.Replace(c.base, c.old, c.new, 1), was...)
			if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
				t.Errorf("got %q, want %q", said, c.want)
			}
		})
	}
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	copies, made := t.TempDir(), t.TempDir()
	if err := generate(root, copies, made); err != nil {
		t.Fatal(err)
	}
	for folder, current := range map[string]string{copies: filepath.Join(root, types), made: filepath.Join(root, templates)} {
		files, err := os.ReadDir(folder)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			want, err := os.ReadFile(filepath.Join(folder, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(current, f.Name())); err != nil || string(got) != string(want) {
				t.Errorf("%s is not what `make crds` writes (%v)", f.Name(), err)
			}
		}
	}
}

// `kubectl explain` says what each member is for.
func TestEveryMemberIsExplained(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"prisms", "prismkeys", "prismaccounts", "prismmodels", "prismwebhooks"} {
		definition := open(t, name).definition
		validated := definition.Spec.Validation
		if validated == nil {
			validated = definition.Spec.Versions[0].Schema
		}
		var explain func(path string, s *apiextensions.JSONSchemaProps)
		explain = func(path string, s *apiextensions.JSONSchemaProps) {
			for member, below := range s.Properties {
				at := path + "." + member
				// Of prism files and invitations, as the schemas that the members come from say.
				for _, elsewhere := range []string{"invitation", "A member to invite", "apply leaves", "after the prism was created", "if the operator has granted"} {
					if strings.Contains(below.Description, elsewhere) {
						t.Errorf("%s is explained by %q", at, below.Description)
					}
				}
				if strings.TrimSpace(below.Description) == "" && at != name+".metadata" {
					t.Errorf("%s has no description", at)
				}
				explain(at, &below)
			}
			if s.Items != nil && s.Items.Schema != nil {
				explain(path, s.Items.Schema)
			}
			if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
				explain(path, s.AdditionalProperties.Schema)
			}
		}
		explain(name, validated.OpenAPIV3Schema)
	}
}
