package shape

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Use is what an attribute of a resource is used for.
type Use struct {
	About string
	// Required attributes are set; Computed ones are told by the API. All others may be set.
	Required, Computed bool
	// Optional attributes of a data source may be set although they are computed.
	Optional bool
	// Kept computed attributes stay as they are when others change.
	Kept      bool
	Sensitive bool
	// Replaced attributes make another resource when they change.
	Replaced bool
	// Untold attributes that are Replaced change nothing when they are set first: what the API does not tell is not there after an import.
	Untold bool
	// Default is that of a Flag; "" is none.
	Default string
	// Unordered lists have no order.
	Unordered bool
}

// Attribute is the attribute of a resource that has the shape.
func (s Shape) Attribute(u Use, l Validator) schema.Attribute {
	optional := !u.Required && !u.Computed
	switch s.Kind {
	case Flag:
		a := schema.BoolAttribute{MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed}
		if def, err := strconv.ParseBool(u.Default); err == nil {
			a.Computed, a.Default = true, booldefault.StaticBool(def)
		}
		a.PlanModifiers = flagModifiers(u)
		return a
	case Whole:
		return schema.Int64Attribute{
			MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed,
			Validators: []validator.Int64{l}, PlanModifiers: wholeModifiers(u),
		}
	case Decimal:
		return schema.Float64Attribute{
			MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed, Validators: []validator.Float64{l},
		}
	case List:
		return s.list(u, optional)
	case Map:
		return schema.MapAttribute{
			MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed, ElementType: s.Elem.Type(),
		}
	case Object:
		return schema.SingleNestedAttribute{
			MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed, Attributes: s.attributes(),
			PlanModifiers: objectModifiers(u),
		}
	case Text, Time:
	}
	return schema.StringAttribute{
		MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed, Sensitive: u.Sensitive,
		Validators: []validator.String{l}, PlanModifiers: textModifiers(u),
	}
}

func (s Shape) list(u Use, optional bool) schema.Attribute {
	switch {
	case s.Elem.Kind == Object:
		return schema.ListNestedAttribute{
			MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed,
			NestedObject: schema.NestedAttributeObject{Attributes: s.Elem.attributes()},
		}
	case u.Unordered:
		return schema.SetAttribute{
			MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed, ElementType: s.Elem.Type(),
		}
	}
	return schema.ListAttribute{
		MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed, ElementType: s.Elem.Type(),
	}
}

// attributes are those of an object within a resource.
func (s Shape) attributes() map[string]schema.Attribute {
	all := make(map[string]schema.Attribute, len(s.Members))
	for _, m := range s.Members {
		all[m.Name] = m.Attribute(Use{Required: m.Required}, Validate(m))
	}
	return all
}

func textModifiers(u Use) (all []planmodifier.String) {
	if u.Kept {
		all = append(all, stringplanmodifier.UseStateForUnknown())
	}
	switch {
	case u.Replaced && u.Untold:
		const about = "Another value than before makes another resource."
		all = append(all, stringplanmodifier.RequiresReplaceIf(
			func(_ context.Context, in planmodifier.StringRequest, out *stringplanmodifier.RequiresReplaceIfFuncResponse) {
				out.RequiresReplace = !in.StateValue.IsNull()
			}, about, about))
	case u.Replaced:
		all = append(all, stringplanmodifier.RequiresReplace())
	}
	return all
}

// Source is the attribute of a data source that has the shape.
func (s Shape) Source(u Use) data.Attribute {
	optional := u.Optional
	switch s.Kind {
	case Flag:
		return data.BoolAttribute{MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed}
	case Whole:
		return data.Int64Attribute{MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed}
	case Decimal:
		return data.Float64Attribute{MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed}
	case List:
		if s.Elem.Kind == Object {
			return data.ListNestedAttribute{
				MarkdownDescription: u.About, Computed: true, NestedObject: data.NestedAttributeObject{Attributes: s.Elem.sources()},
			}
		}
		return data.ListAttribute{MarkdownDescription: u.About, Computed: true, ElementType: s.Elem.Type()}
	case Map:
		if s.Elem.Kind == Object {
			return data.MapNestedAttribute{
				MarkdownDescription: u.About, Computed: true, NestedObject: data.NestedAttributeObject{Attributes: s.Elem.sources()},
			}
		}
		return data.MapAttribute{MarkdownDescription: u.About, Computed: true, ElementType: s.Elem.Type()}
	case Object:
		return data.SingleNestedAttribute{MarkdownDescription: u.About, Computed: true, Attributes: s.sources()}
	case Text, Time:
	}
	return data.StringAttribute{MarkdownDescription: u.About, Required: u.Required, Optional: optional, Computed: u.Computed}
}

func (s Shape) sources() map[string]data.Attribute {
	all := make(map[string]data.Attribute, len(s.Members))
	for _, m := range s.Members {
		all[m.Name] = m.Source(Use{Computed: true})
	}
	return all
}

// Type is the type of an element of a list or a map that is no object.
func (s Shape) Type() attr.Type {
	switch s.Kind {
	case Flag:
		return types.BoolType
	case Whole:
		return types.Int64Type
	case Decimal:
		return types.Float64Type
	case List:
		return types.ListType{ElemType: s.Elem.Type()}
	case Map:
		return types.MapType{ElemType: s.Elem.Type()}
	case Object:
		all := make(map[string]attr.Type, len(s.Members))
		for _, m := range s.Members {
			all[m.Name] = m.Type()
		}
		return types.ObjectType{AttrTypes: all}
	case Text, Time:
	}
	return types.StringType
}
