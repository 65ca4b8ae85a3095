package definition

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/prism-results/prism/client"
)

// YAML writes a definition as a file for Decode. Equal definitions have equal texts.
func YAML(p client.NewPrism) string {
	var e encoder
	e.object(reflect.ValueOf(p), "")
	return e.String()
}

// encoder is the reverse of decoder.
type encoder struct{ bytes.Buffer }

// object writes the members of a struct: the first at the current position, the others below it.
func (e *encoder) object(v reflect.Value, indent string) {
	separator := ""
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		member := v.FieldByIndex(f.Index)
		if name == "" || options == "omitempty" && (member.IsZero() || member.Kind() == reflect.Slice && member.Len() == 0) {
			continue
		}
		e.WriteString(separator + name + ":")
		e.value(member, indent)
		separator = indent
	}
}

// value writes what follows a colon, with its line end.
func (e *encoder) value(v reflect.Value, indent string) {
	switch v.Kind() {
	case reflect.Pointer:
		e.value(v.Elem(), indent)
	case reflect.Struct:
		e.WriteString("\n" + indent + "  ")
		e.object(v, indent+"  ")
	case reflect.Slice:
		if v.Len() == 0 {
			e.WriteString(" []\n")
			return
		}
		e.WriteByte('\n')
		for i := range v.Len() {
			e.WriteString(indent + "  - ")
			e.object(v.Index(i), indent+"    ")
		}
	case reflect.Bool:
		e.WriteString(" " + strconv.FormatBool(v.Bool()) + "\n")
	case reflect.Float64:
		e.WriteString(" " + strconv.FormatFloat(v.Float(), 'f', -1, 64) + "\n")
	default:
		e.text(v.String(), indent)
	}
}

var (
	// plain texts need no quotes: they begin with a letter and contain no character with a meaning in YAML.
	plain = regexp.MustCompile(`^\pL(?:[\pL\pN ,.;!?()/+_%=€$'-]*[\pL\pN.;!?()/+_%=€$'-])?$`)
	// words look like texts, but YAML reads them as other values.
	words = regexp.MustCompile(`(?i)^(?:true|false|null|yes|no|on|off|y|n)$`)
	// lines are texts of several lines that fit into a YAML block.
	lines = regexp.MustCompile(`^(?:[\pL\pN\pP\pS][\pL\pN\pP\pS ]*\n)+$`)
)

func (e *encoder) text(s, indent string) {
	switch {
	case plain.MatchString(s) && !words.MatchString(s):
		e.WriteString(" " + s + "\n")
	case lines.MatchString(s) && !strings.Contains(s, " \n"):
		e.WriteString(" |\n")
		for line := range strings.Lines(s) {
			e.WriteString(indent + "  " + line)
		}
	default:
		// A JSON string is a YAML string too, and escapes invisible characters.
		quoted := json.NewEncoder(e)
		quoted.SetEscapeHTML(false)
		e.WriteByte(' ')
		if err := quoted.Encode(s); err != nil {
			panic("definition: a text has no JSON form: " + err.Error())
		}
	}
}
