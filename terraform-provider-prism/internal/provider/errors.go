package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/prism-results/prism/client"
)

// errUnset is a call before the provider knows its settings: they are of what another resource of the same apply makes.
var errUnset = errors.New("the url or the api_key of the provider is known after apply: apply what they come from first, with -target")

// errChanged is a change by somebody else after the plan was made.
var errChanged = errors.New("somebody else changed it after the plan was made: plan again, and look at what changed")

// told is an error as a diagnostic.
func told(err error) diag.Diagnostic {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return diag.NewErrorDiagnostic("Prism was not changed", err.Error())
	}
	more, _ := strings.CutPrefix(err.Error(), refused.Error()) // what was added to it
	text := refused.Message + more
	if refused.RequestID != "" {
		text = fmt.Sprintf("%s\n\nThe request is %s in the logs of Prism.", text, refused.RequestID)
	}
	return diag.NewErrorDiagnostic(fmt.Sprintf("Prism refused %s (%d %s)", refused.Operation, refused.Status, refused.Code), text)
}
