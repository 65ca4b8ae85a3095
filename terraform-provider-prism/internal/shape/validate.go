package shape

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/prism-results/prism/pkg/api"
)

func flagModifiers(u Use) (all []planmodifier.Bool) {
	if u.Kept {
		all = append(all, boolplanmodifier.UseStateForUnknown())
	}
	return all
}

func wholeModifiers(u Use) (all []planmodifier.Int64) {
	if u.Kept {
		all = append(all, int64planmodifier.UseStateForUnknown())
	}
	return all
}

func objectModifiers(u Use) (all []planmodifier.Object) {
	if u.Replaced {
		all = append(all, objectplanmodifier.RequiresReplace())
	}
	return all
}

// Validator refuses a value that the API would, before anything is applied.
type Validator struct {
	limits api.Limits
	time   bool
}

// Validate is the validator of a member.
func Validate(m Member) Validator { return Validator{m.Limits, m.Kind == Time} }

// Description implements validator.Describer.
func (Validator) Description(context.Context) string { return "what the API takes" }

// MarkdownDescription implements validator.Describer.
func (v Validator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (v Validator) ValidateString(_ context.Context, in validator.StringRequest, out *validator.StringResponse) {
	if in.ConfigValue.IsNull() || in.ConfigValue.IsUnknown() {
		return
	}
	if problem := v.text(in.ConfigValue.ValueString()); problem != "" {
		refuse(&out.Diagnostics, in.Path, problem)
	}
}

func (v Validator) text(text string) string {
	form, length := v.form(), float64(utf8.RuneCountInString(text))
	switch {
	case v.limits.Enum != nil && !slices.Contains(v.limits.Enum, text):
		return "must be one of " + strings.Join(v.limits.Enum, ", ")
	case v.time && !isTime(text):
		return `must be a time such as "2027-01-31T12:00:00Z"`
	case form != nil && !form.MatchString(text):
		return "must match " + form.String()
	case v.limits.Min != nil && length < *v.limits.Min:
		return fmt.Sprintf("must have at least %g characters", *v.limits.Min)
	case v.limits.Max != nil && length > *v.limits.Max:
		return fmt.Sprintf("must have at most %g characters", *v.limits.Max)
	}
	return ""
}

func (v Validator) form() *regexp.Regexp {
	if v.limits.Form == "prism" { // never a UUID, which the API says
		return api.Forms["slug"]
	}
	return api.Forms[v.limits.Form]
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// ValidateInt64 implements validator.Int64.
func (v Validator) ValidateInt64(_ context.Context, in validator.Int64Request, out *validator.Int64Response) {
	if !in.ConfigValue.IsNull() && !in.ConfigValue.IsUnknown() {
		v.number(float64(in.ConfigValue.ValueInt64()), in.Path, &out.Diagnostics)
	}
}

// ValidateFloat64 implements validator.Float64.
func (v Validator) ValidateFloat64(_ context.Context, in validator.Float64Request, out *validator.Float64Response) {
	if !in.ConfigValue.IsNull() && !in.ConfigValue.IsUnknown() {
		v.number(in.ConfigValue.ValueFloat64(), in.Path, &out.Diagnostics)
	}
}

func (v Validator) number(n float64, at path.Path, to *diag.Diagnostics) {
	switch {
	case v.limits.Min != nil && n < *v.limits.Min:
		refuse(to, at, fmt.Sprintf("must be at least %g", *v.limits.Min))
	case v.limits.Max != nil && n > *v.limits.Max:
		refuse(to, at, fmt.Sprintf("must be at most %g", *v.limits.Max))
	case v.limits.Above != nil && n <= *v.limits.Above:
		refuse(to, at, fmt.Sprintf("must be above %g", *v.limits.Above))
	}
}

func refuse(to *diag.Diagnostics, at path.Path, problem string) {
	to.AddAttributeError(at, "Prism would refuse this value", at.String()+" "+problem+".")
}
