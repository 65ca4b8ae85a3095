package client

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// notUTF8 refuses a request body with a text that is not UTF-8: encoding/json would replace the invalid bytes, and Prism would
// get another text.
func notUTF8(operation string, body any) error {
	if path, found := invalidText(reflect.ValueOf(body), nil); found {
		return fmt.Errorf("client: %s: %q is not UTF-8", operation, strings.Join(path, "."))
	}
	return nil
}

// invalidText finds a text that is not UTF-8 in a value, and its path in the JSON of the value.
func invalidText(v reflect.Value, path []string) (at []string, invalid bool) {
	switch v.Kind() {
	case reflect.String:
		return path, !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return invalidText(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			if at, invalid = invalidText(v.Index(i), append(path, strconv.Itoa(i))); invalid {
				break
			}
		}
	case reflect.Map:
		for name, value := range v.Seq2() {
			path := append(path, name.String())
			if at, invalid = invalidText(name, path); !invalid {
				at, invalid = invalidText(value, path)
			}
			if invalid {
				break
			}
		}
	case reflect.Struct:
		for member, value := range v.Fields() {
			if !member.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
			path := path
			if name != "" { // the members of an embedded struct have no path of their own
				path = append(path, name)
			}
			if at, invalid = invalidText(value, path); invalid {
				break
			}
		}
	default: // it has no text
	}
	return at, invalid
}
