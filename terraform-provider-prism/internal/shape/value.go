package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// numbers is the precision of Terraform's numbers, in bits.
const numbers = 512

// JSON is x as a tree of JSON: maps, lists, texts, booleans and json.Number.
func JSON(x any) (tree any, err error) {
	text, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&tree)
	return tree, err
}

// Tree is the value of an attribute as a tree of JSON. What is null is left out of objects, and so is what is not known yet.
func Tree(v tftypes.Value) (any, error) {
	if v.IsNull() || !v.IsKnown() {
		return nil, nil
	}
	switch v.Type().(type) {
	case tftypes.Object, tftypes.Map:
		var members map[string]tftypes.Value
		if err := v.As(&members); err != nil {
			return nil, err
		}
		return treeOfMembers(members)
	case tftypes.List, tftypes.Set, tftypes.Tuple:
		var list []tftypes.Value
		if err := v.As(&list); err != nil {
			return nil, err
		}
		tree := make([]any, len(list))
		for i := range list {
			var err error
			if tree[i], err = Tree(list[i]); err != nil {
				return nil, err
			}
		}
		return tree, nil
	}
	return leaf(v)
}

func treeOfMembers(members map[string]tftypes.Value) (any, error) {
	tree := map[string]any{}
	for name, value := range members {
		x, err := Tree(value)
		if err != nil {
			return nil, err
		}
		if x != nil {
			tree[name] = x
		}
	}
	return tree, nil
}

func leaf(v tftypes.Value) (any, error) {
	switch {
	case v.Type().Is(tftypes.String):
		var text string
		err := v.As(&text)
		return text, err
	case v.Type().Is(tftypes.Bool):
		var flag bool
		err := v.As(&flag)
		return flag, err
	}
	var number big.Float
	err := v.As(&number)
	return json.Number(number.Text('g', -1)), err
}

// Value is a tree of JSON as the value of an attribute of a type. A member that the type does not have is left out.
func Value(tree any, t tftypes.Type) (tftypes.Value, error) {
	if tree == nil {
		return tftypes.NewValue(t, nil), nil
	}
	switch t := t.(type) {
	case tftypes.Object:
		return objectValue(tree, t)
	case tftypes.Map:
		members, _ := tree.(map[string]any)
		values := make(map[string]tftypes.Value, len(members))
		for name, x := range members {
			var err error
			if values[name], err = Value(x, t.ElementType); err != nil {
				return tftypes.Value{}, err
			}
		}
		return made(t, values)
	case tftypes.List:
		return listValue(tree, t, t.ElementType)
	case tftypes.Set:
		return listValue(tree, t, t.ElementType)
	}
	switch x := tree.(type) {
	case json.Number:
		if t.Is(tftypes.Number) {
			number, _, err := big.ParseFloat(string(x), 10, numbers, big.ToNearestEven)
			if err != nil {
				return tftypes.Value{}, err
			}
			return made(t, number)
		}
	case bool:
		if t.Is(tftypes.Bool) {
			return made(t, x)
		}
	case string:
		return made(t, x)
	}
	text, err := json.Marshal(tree) // such as the label of an example, of which an attribute has the text
	if err != nil {
		return tftypes.Value{}, err
	}
	return made(t, string(text))
}

func objectValue(tree any, t tftypes.Object) (tftypes.Value, error) {
	members, _ := tree.(map[string]any)
	values := make(map[string]tftypes.Value, len(t.AttributeTypes))
	for name, of := range t.AttributeTypes {
		var err error
		if values[name], err = Value(members[name], of); err != nil {
			return tftypes.Value{}, err
		}
	}
	return made(t, values)
}

func listValue(tree any, t, elem tftypes.Type) (tftypes.Value, error) {
	list, _ := tree.([]any)
	values := make([]tftypes.Value, len(list))
	for i := range list {
		var err error
		if values[i], err = Value(list[i], elem); err != nil {
			return tftypes.Value{}, err
		}
	}
	return made(t, values)
}

// made is a value, or an error where its type does not fit.
func made(t tftypes.Type, x any) (tftypes.Value, error) {
	if err := tftypes.ValidateValue(t, x); err != nil {
		return tftypes.Value{}, fmt.Errorf("shape: %w", err)
	}
	return tftypes.NewValue(t, x), nil
}
