package upstream

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/strictjson"
)

const (
	maxErrorBody  = 16 << 10               // bytes of an error that are read
	errorBodyWait = 250 * time.Millisecond // bounds the reading: an error may never end
	maxMessage    = 200                    // bytes of an error that are logged
	// leastEcho is how many bytes a part of a value must have to be removed like the whole: upstreams shorten what they repeat.
	leastEcho = 8
	removed   = "…"
)

// errorBody reads the beginning of the body of an error.
func errorBody(body io.ReadCloser) []byte {
	stop := time.AfterFunc(errorBodyWait, func() { _ = body.Close() })
	defer stop.Stop()
	var read bytes.Buffer
	_, _ = read.ReadFrom(io.LimitReader(body, maxErrorBody)) // what has arrived is enough
	return read.Bytes()
}

// Message is the first 200 bytes of the upstream's own error message without the values that the call had sent
// (spec: upstream-error-logs). It is empty unless the client explains.
func (f *Fault) Message(values []string) string {
	text := unescaped(strings.ToValidUTF8(readRefusal(f.body).Message, removed))
	var forms []string
	for _, v := range slices.Concat(values, f.secrets) {
		for range 3 { // as it is, in JSON, and in a text that is in JSON
			if form := unescaped(v); form != "" && !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
			quoted := strictjson.AppendString(nil, v)
			v = string(quoted[1 : len(quoted)-1])
		}
	}
	// Longer values first: one value may be a part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var out strings.Builder
	for text != "" && out.Len() < maxMessage {
		if n := echo(text, forms); n > 0 {
			if !strings.HasSuffix(out.String(), removed) {
				out.WriteString(removed)
			}
			text = text[n:]
			continue
		}
		_, n := utf8.DecodeRuneInString(text)
		out.WriteString(text[:n])
		text = text[n:]
	}
	message := out.String()
	for len(message) > maxMessage {
		_, n := utf8.DecodeLastRuneInString(message)
		message = message[:len(message)-n]
	}
	return message
}

// escapes are escapes of UTF-16 in JSON, also in a text that is in JSON.
var escapes = regexp.MustCompile(`(?:\\+u[0-9A-Fa-f]{4})+`)

// unescaped is text without escapes of UTF-16: upstreams escape more than JSON must, each in its own way.
func unescaped(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(run string) string {
		var units []uint16
		for code := range strings.SplitSeq(run, "u") {
			if n, err := strconv.ParseUint(strings.TrimRight(code, `\`), 16, 16); err == nil { // else what is before the first u
				units = append(units, uint16(n))
			}
		}
		return string(utf16.Decode(units))
	})
}

// echo returns how many bytes at the beginning of text repeat one of the values: the whole value, or at least leastEcho bytes.
func echo(text string, values []string) (n int) {
	for _, v := range values {
		if strings.HasPrefix(text, v) {
			n = max(n, len(v))
		}
		// If the value contains a text, it contains every prefix of the text: so a binary search finds the longest prefix.
		longest := sort.Search(len(text)+1, func(l int) bool { return !strings.Contains(v, text[:l]) }) - 1
		if longest >= leastEcho {
			n = max(n, longest)
		}
	}
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

func decode(raw []byte, v any) bool {
	return len(raw) > 0 && strictjson.Unmarshal(raw, v, strictjson.AllowInvalidUTF8(true), strictjson.AllowDuplicateNames(true)) == nil
}
