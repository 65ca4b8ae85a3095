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
func invalidText(v reflect.Value, path []string) (at []string, found bool) {
	switch v.Kind() {
	case reflect.String:
		return path, !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return invalidText(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			if at, found = invalidText(v.Index(i), append(path, strconv.Itoa(i))); found {
				break
			}
		}
	case reflect.Map:
		for name, value := range v.Seq2() {
			path := append(path, name.String())
			if at, found = invalidText(name, path); !found {
				at, found = invalidText(value, path)
			}
			if found {
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
			if at, found = invalidText(value, path); found {
				break
			}
		}
	default: // it has no text
	}
	return at, found
}
