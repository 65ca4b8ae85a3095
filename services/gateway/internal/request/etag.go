package request

import (
	"strings"

	"github.com/prism-results/prism/pkg/api"
)

// ifMatch reads the If-Match headers of a request: "*" or a list of entity tags (RFC 9110, 13.1.1). Without one it is nil.
func (r *reader) ifMatch(headers []string) api.IfMatch {
	if len(headers) == 0 {
		return nil
	}
	list := strings.Join(headers, ",")
	if strings.Trim(list, " \t") == api.AnyTag {
		return api.IfMatch{api.AnyTag}
	}
	tags := api.IfMatch{}
	for rest := list; ; {
		rest = strings.TrimLeft(rest, " \t,")
		if rest == "" {
			break
		}
		tag := strings.TrimPrefix(rest, "W/")
		end := strings.IndexByte(strings.TrimPrefix(tag, `"`), '"')
		if tag == "" || tag[0] != '"' || end < 0 {
			r.add("If-Match", textETag)
			return tags
		}
		if end += len(`""`); len(tag) == len(rest) { // a weak tag matches nothing
			tags = append(tags, strings.Clone(tag[:end]))
		}
		if rest = strings.TrimLeft(tag[end:], " \t"); rest != "" && rest[0] != ',' {
			r.add("If-Match", textETag)
			return tags
		}
	}
	return tags
}
