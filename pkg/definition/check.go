package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/prism-results/prism/docs/schemas"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// Checker finds what is wrong with definitions without a Prism: by the schema of the files, and by the rules of the Lens. Prism
// itself finds more, such as two questions with one key or a model that is not configured.
type Checker struct{ schema *jsonschema.Schema }

// NewChecker reads the schema.
func NewChecker() Checker {
	const name = "prism.schema.json"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Prism))
	c := jsonschema.NewCompiler()
	if err == nil {
		err = c.AddResource(name, document)
	}
	schema, compileErr := c.Compile(name)
	if err := errors.Join(err, compileErr); err != nil {
		panic("definition: the schema is broken: " + err.Error())
	}
	return Checker{schema}
}

// Check lists every problem with its place in the file; nil without a problem.
func (c Checker) Check(f File) error {
	text, err := json.Marshal(f.Prism)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for name, member := range value.(map[string]any) {
		if member == nil { // the file does not have it
			delete(value.(map[string]any), name)
		}
	}
	var wrong *jsonschema.ValidationError
	if errors.As(c.schema.Validate(value), &wrong) {
		return errors.Join(leaves(f, wrong)...)
	}
	return checkLens(f, text)
}

// leaves are the innermost causes of a validation error: the error itself if it has no causes.
func leaves(f File, e *jsonschema.ValidationError) (problems []error) {
	for _, cause := range e.Causes {
		problems = append(problems, leaves(f, cause)...)
	}
	if len(e.Causes) == 0 {
		problems = append(problems, problem(f, strings.Join(e.InstanceLocation, "."), fmt.Sprint(e.BasicOutput().Error)))
	}
	return problems
}

// checkLens checks the Lens of a definition that passed the schema: the file's Lens, or else the one derived from the questions.
func checkLens(f File, text []byte) error {
	var parsed struct {
		prism.Definition
		Lens *prism.Lens
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		return err
	}
	wrong := lens.ValidateDerived(parsed.Definition)
	if parsed.Lens != nil {
		wrong = lens.Validate(*parsed.Lens, parsed.Definition, "lens.")
	}
	var problems []error
	for _, p := range wrong {
		problems = append(problems, problem(f, p.Path, p.Text))
	}
	return errors.Join(problems...)
}

func problem(f File, path, text string) error {
	place := f.At(path) + ": "
	if path != "" {
		place += path + ": "
	}
	return errors.New(place + text)
}
