package provider

import "github.com/prism-results/prism/pkg/strictjson"

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSONTo implements the JSON library's MarshalerTo.
func (o Object) MarshalJSONTo(e *strictjson.Encoder) error {
	if err := e.WriteToken(strictjson.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := e.WriteToken(strictjson.String(m.Name)); err != nil {
			return err
		}
		if err := strictjson.MarshalTo(e, m.Value); err != nil {
			return err
		}
	}
	return e.WriteToken(strictjson.EndObject)
}

// Encode returns v as JSON. Broken UTF-8 is replaced.
func Encode(v any) []byte {
	b, err := strictjson.Marshal(v, strictjson.AllowInvalidUTF8(true))
	if err != nil { // a bug in the format; package ask recovers from the panic
		panic(err)
	}
	return b
}
