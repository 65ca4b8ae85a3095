package request_test

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: byte-order-mark, nesting-limit
func TestABodyIsOneStrictJSONValue(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return `{"text":"x","d":` + repeat("[", n-1) + repeat("]", n-1) + `}` }
	for _, c := range []struct{ name, body, want string }{
		{"no bytes", "", malformed},
		{"only white space", " \n\t\r", malformed},
		{"only a byte-order mark", "\ufeff", malformed},
		{"a byte-order mark is skipped", "\ufeff" + `{"text":"x"}`, ""},
		{"a second byte-order mark is not", "\ufeff\ufeff" + `{"text":"x"}`, malformed},
		{"a byte-order mark behind white space is not", " \ufeff" + `{"text":"x"}`, malformed},
		{"a byte-order mark inside a string is text", `{"text":"` + "\ufeff" + `"}`, ""},
		{"white space around everything", " \t\r\n{ \t\r\n\"text\" \t\r\n: \t\r\n\"x\" \t\r\n, \"y\" : [ ] } \t\r\n", ""},
		{"other white space", "\u00a0" + `{"text":"x"}`, malformed},
		{"a form feed", "\f" + `{"text":"x"}`, malformed},
		{"two values", `{"text":"x"}{}`, malformed},
		{"a value and rubbish", `{"text":"x"} x`, malformed},
		{"a value and a NUL", `{"text":"x"}` + "\x00", malformed},
		{"an unfinished object", `{"text":"x"`, malformed},
		{"an unfinished string", `{"text":"x`, malformed},
		{"an unfinished escape", `{"text":"\`, malformed},
		{"an unfinished \\u", `{"text":"\u00`, malformed},
		// spec: json-syntax
		{"a trailing comma in an object", `{"text":"x",}`, malformed},
		{"a trailing comma in an array", `{"text":"x","a":[1,]}`, malformed},
		{"a missing colon", `{"text" "x"}`, malformed},
		{"a name that is no string", `{text:"x"}`, malformed},
		{"single quotes", `{'text':'x'}`, malformed},
		{"a comment", `{"text":"x"/**/}`, malformed},
		{"closed by the wrong bracket", `{"text":"x","a":[}]`, malformed},
		{"an unopened bracket", `]`, malformed},
		{"an unknown literal", `{"text":"x","a":undefined}`, malformed},
		{"an upper-case literal", `{"text":"x","a":True}`, malformed},
		{"NaN", `{"text":"x","a":NaN}`, malformed},
		{"Infinity", `{"text":"x","a":-Infinity}`, malformed},
		{"a leading zero", `{"text":"x","a":01}`, malformed},
		{"a leading plus", `{"text":"x","a":+1}`, malformed},
		{"a lonely minus", `{"text":"x","a":-}`, malformed},
		{"a leading point", `{"text":"x","a":.5}`, malformed},
		{"a trailing point", `{"text":"x","a":5.}`, malformed},
		{"an empty exponent", `{"text":"x","a":1e}`, malformed},
		{"hexadecimal", `{"text":"x","a":0x10}`, malformed},
		{"an unknown escape", `{"text":"\x41"}`, malformed},
		{"a bad \\u", `{"text":"\u12g4"}`, malformed},
		{"a raw line break in a string", "{\"text\":\"a\nb\"}", malformed},
		{"a raw NUL in a string", "{\"text\":\"a\x00b\"}", malformed},
		{"a raw DEL in a string", "{\"text\":\"a\x7fb\"}", ""},
		// spec: json-syntax
		{"bytes that are not UTF-8 in a string", "{\"text\":\"\xff\"}", malformed},
		{"bytes that are not UTF-8 where nothing is read", "{\"text\":\"x\",\"a\":\"\xc3\"}", malformed},
		{"an overlong encoding", "{\"text\":\"\xc0\xaf\"}", malformed},
		{"a raw surrogate is not UTF-8", "{\"text\":\"\xed\xa0\x80\"}", malformed},
		{"UTF-16", "\xff\xfe{\x00}\x00", malformed},
		{"nesting of 512 passes", deep(512), ""},
		{"nesting of 513 is malformed", deep(513), malformed},
		{"many brackets beside each other are not deep", `{"text":"x","d":[` + repeat("[[]],", 5000) + `[]]}`, ""},
		{"brackets in strings are not deep", `{"text":"` + repeat(`[{\"`, 5000) + `"}`, ""},
		{"nesting beyond any stack", repeat("[", 1<<20), malformed},
		{"objects beyond any stack", repeat(`{"a":`, 1<<20/5), malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedCreate("p", nil, jsonBody(c.body))
			wantProblems(t, err, c.want)
			if c.want != "" || !strings.HasPrefix(c.body, "{") {
				return
			}
			_, err = parsedRetry(anID, jsonBody(c.body))
			wantProblems(t, err, c.want)
		})
	}
}

func second[A any](_ A, err error) error { return err }

// A hostile body of 1 MiB costs memory in proportion to what is read of it, until the response is written. Not parallel: it counts what the whole
// process allocates.
func TestMemoryIsBoundedByTheBody(t *testing.T) {
	const mib = 1 << 20
	fill := func(prefix, unit, suffix string) string {
		return prefix + repeat(unit, (mib-len(prefix)-len(suffix))/len(unit)) + suffix
	}
	names := func(open, member, end string) string {
		var b strings.Builder
		b.WriteString(open)
		for i := 0; b.Len() < mib-64; i++ {
			b.WriteString(`"` + strconv.FormatInt(int64(i), 36) + `":` + member + `,`)
		}
		return b.String() + end
	}
	for _, c := range []struct {
		name, body string
		times      int // of the body's size
	}{
		{"open arrays", repeat("[", mib), 1},
		{"open objects", fill("", `{"a":`, ""), 1},
		{"an unread array of numbers", fill(`{"text":"x","a":[`, "1,", "1]}"), 1},
		{"an unread array of arrays", fill(`{"text":"x","a":[`, "[],", "[]]}"), 1},
		{"unread members", fill(`{"text":"x"`, `,"a":1`, "}"), 1},
		{"unread members with other names", names(`{`, "0", `"text":"x"}`), 1},
		{"unread members with escaped names", fill(`{"text":"x"`, `,"\u0061":1`, "}"), 1},
		{"the same member again and again", fill(`{`, `"text":"x",`, `"text":"x"}`), 1},
		{"the same field again and again", fill(`{"fields":{`, `"a":"x",`, `"a":"x"}}`), 6},
		{"escapes without an end", fill(`{"unread":"`, `\\`, `","text":"x"}`), 1},
		{"escaped quotes", fill(`{"unread":"`, `\"`, `","text":"x"}`), 1},
		{"elements past the limit", fill(`{"slug":"a","questions":[`, "1,", `1]}`), 1},
		{"many fields", names(`{"fields":{`, `""`, `"z":""}}`), 12},
		// The message and the body of the response are six times as long as the body of the request. The race detector adds
		// three times more.
		{"many fields of the wrong type", names(`{"fields":{`, `1`, `"z":""}}`), 24},
		{"many fields with NUL", names(`{"fields":{`, `"\u0000"`, `"z":""}}`), 24},
	} {
		body := jsonBody(c.body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, err := range []error{second(parsedCreate("p", nil, body)), second(parsed(api.CreatePrism, request.Source{Body: body}))} {
			if refusal := (*apierr.Error)(nil); errors.As(err, &refusal) {
				_ = httpkit.ErrorBody(refusal)
			}
		}
		runtime.ReadMemStats(&after)
		// 64 KiB for what does not depend on the body.
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(c.times)*mib+64<<10 {
			t.Errorf("%s: %d KiB allocated for %d KiB", c.name, got>>10, len(c.body)>>10)
		} else {
			t.Logf("%s: %d KiB", c.name, got>>10)
		}
	}
}
