package format

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

func one(t *testing.T, f contract.Format, table Table, r answeredRow) contract.Response {
	t.Helper()
	d, err := Single(f, table, r.under(table))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// spec: media-types
func TestOneIsHeaderAndRowWithTheMediaTypeOfItsFormat(t *testing.T) {
	t.Parallel()
	for f, want := range map[contract.Format]string{
		contract.JSON:  "application/json; charset=utf-8",
		contract.Raw:   "application/json; charset=utf-8",
		contract.CSV:   "text/csv; charset=utf-8",
		contract.TSV:   "text/tab-separated-values; charset=utf-8",
		contract.JSONL: "application/jsonl; charset=utf-8",
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			for _, r := range []answeredRow{okRow(t), failedRow(t)} {
				d := one(t, f, ticketTable(), r)
				if d.ContentType != want {
					t.Errorf("content type %q, want %q", d.ContentType, want)
				}
				if body := encode(t, f, ticketTable(), []answeredRow{r}); !bytes.Equal(d.Body, body) {
					t.Errorf("body %q, want %q", d.Body, body)
				}
				if d.Failed != (r.Result.Status == prism.Failed) {
					t.Errorf("Failed is %v for status %s", d.Failed, r.Result.Status)
				}
			}
		})
	}
}

func TestAnUnknownFormatIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Single("xml", ticketTable(), okRow(t).under(ticketTable())); err == nil {
		t.Error("no error")
	}
	if got := ContentType("xml"); got != "" {
		t.Errorf("content type %q", got)
	}
}

// damaged is stored answers that Append never writes.
var damaged = map[string]string{
	"nothing":            "",
	"cut short":          `{"intent":{"type":"choice"`,
	"an array":           `[]`,
	"null":               `null`,
	"something after it": `{}{}`,
	"a member twice":     `{"urgent":{"type":"yes_no","probability":1},"urgent":{"type":"yes_no","probability":0}}`,
	"invalid UTF-8":      "{\"urgent\":{\"type\":\"\xff\"}}",
	"a missing member":   `{"urgent":{"type":"yes_no"}}`,
}

func TestStoredAnswersThatDoNotParseAreAnErrorAndNoHalfRow(t *testing.T) {
	t.Parallel()
	for _, f := range api.Formats() {
		e, err := NewEncoder(f, api.TextStyle{}, ticketTable())
		if err != nil {
			t.Fatal(err)
		}
		for name, stored := range damaged {
			r := okRow(t)
			r.Result.Answers = []byte(stored)
			b, err := e.Row([]byte("before"), r.under(ticketTable()))
			if !errors.Is(err, answerjson.ErrShape) || string(b) != "before" {
				t.Errorf("%s, %s: %q, %v", f, name, b, err)
			}
			if _, err := Single(f, ticketTable(), r.under(ticketTable())); !errors.Is(err, answerjson.ErrShape) {
				t.Errorf("%s, %s: %v", f, name, err)
			}
		}
		if _, err := e.Row(nil, okRow(t).under(ticketTable())); err != nil {
			t.Errorf("%s: the row after a damaged one: %v", f, err)
		}
	}
}

// spec: raw-ignores-the-lens
func TestRawIsACopyThatLensEditsNeverChange(t *testing.T) {
	t.Parallel()
	edited := ticketTable()
	edited.Lens = editedLens()
	edited.Latest = prism.Definition{}
	r := okRow(t)
	before := one(t, contract.Raw, ticketTable(), r).Body
	r.Answered = prism.Definition{}
	if after := one(t, contract.Raw, edited, r).Body; !bytes.Equal(before, after) {
		t.Errorf("before %s\nafter  %s", before, after)
	}
	if !bytes.HasSuffix(before, append(append([]byte(`,"answers":`), r.Result.Answers...), '}')) {
		t.Errorf("%s does not hold the stored bytes %s", before, r.Result.Answers)
	}
}

// spec: json-escapes
func TestJSONEscapesNothingThatJSONNeedNot(t *testing.T) {
	t.Parallel()
	plain := "<script>&amp;</script> '/' \u2028\u2029\u007f é 👩‍🚀"
	for _, f := range []contract.Format{contract.JSON, contract.Raw, contract.JSONL} {
		r := okRow(t)
		r.Result.Ref = &plain
		r.Result.Fields[0].Value = plain
		if body := one(t, f, ticketTable(), r).Body; !bytes.Contains(body, []byte(`"ref":"`+plain+`"`)) {
			t.Errorf("%s: %s", f, body)
		}
	}
	must := "\" \\ \n \x01"
	r := okRow(t)
	r.Result.Ref = &must
	if body := one(t, contract.JSON, ticketTable(), r).Body; !bytes.Contains(body, []byte(`"ref":"\" \\ \n \u0001"`)) {
		t.Errorf("%s", body)
	}
}

// memberOrder lists the members of an object, or of its member answers.
func memberOrder(t *testing.T, body []byte, of string) string {
	t.Helper()
	d := strictjson.NewDecoder(bytes.NewReader(body))
	var names []string
	for {
		token, err := d.ReadToken()
		if err != nil {
			return strings.Join(names, " ")
		}
		if _, members := d.StackIndex(d.StackDepth()); token.Kind() == '"' && members%2 == 1 {
			if path := string(d.StackPointer()); path[:strings.LastIndex(path, "/")] == of {
				names = append(names, token.String())
			}
		}
	}
}

func TestMembersStandInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	// The order of these names is not alphabetical.
	table := ticketTable()
	table.Lens = prism.Lens{Columns: []prism.Column{
		{Name: "z", Question: "urgent", Show: prism.ShowAnswer},
		{Name: "a", Question: "mood", Show: prism.ShowAnswer},
		{Name: "10", Question: "intent", Show: prism.ShowAnswer},
		{Name: "9", Question: "intent", Show: prism.ShowConfidence},
	}}
	const envelope = "id ref prism version status error took_ms created_at answers"
	for _, c := range []struct {
		format   contract.Format
		of, want string
	}{
		{contract.JSON, "", envelope},
		{contract.Raw, "", envelope},
		{contract.JSON, "/answers", "z a 10 9"},
		{contract.Raw, "/answers", "intent urgent mood"},
		{contract.Raw, "/answers/intent", "type value probabilities confidence"},
		{contract.Raw, "/answers/intent/probabilities", "refund other insufficient_information"},
		{contract.JSONL, "", "result_id ref version status error created_at subject body z a 10 9"},
	} {
		if got := memberOrder(t, one(t, c.format, table, okRow(t)).Body, c.of); got != c.want {
			t.Errorf("%s%s: %s, want %s", c.format, c.of, got, c.want)
		}
	}
}

func TestEveryJSONBodyIsOneValidValue(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		for _, f := range []contract.Format{contract.JSON, contract.Raw, contract.JSONL} {
			for _, r := range c.rows {
				body := one(t, f, c.table, r).Body
				if !strictjson.Value(body).IsValid() {
					t.Errorf("%s.%s: %s", c.name, f, body)
				}
				if line := bytes.HasSuffix(body, []byte("\n")); line != (f == contract.JSONL) || bytes.Count(body, []byte("\n")) > 1 {
					t.Errorf("%s.%s: line ends of %q", c.name, f, body)
				}
			}
		}
	}
}

// spec: labels-of-the-answering-version
func TestLabelsAreOfTheVersionThatAnswered(t *testing.T) {
	t.Parallel()
	table := ticketTable()
	table.Latest.Questions[0].Options[0].Label = "Renamed since"
	for _, c := range []struct {
		name   string
		answer func(*prism.Definition)
		want   string
	}{
		{"label of that version", func(*prism.Definition) {}, "Refund <&> return"},
		{"option that version lacks", func(d *prism.Definition) { d.Questions[0].Options = nil }, "refund"},
		{"question that version lacks", func(d *prism.Definition) { d.Questions = nil }, "refund"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := okRow(t)
			c.answer(&r.Answered)
			if body := string(one(t, contract.CSV, table, r).Body); !strings.Contains(body, ","+c.want+",0.75,") {
				t.Errorf("%s", body)
			}
		})
	}
}

func TestAVersionIsANumberInJSONLines(t *testing.T) {
	t.Parallel()
	if body := one(t, contract.JSONL, ticketTable(), okRow(t)).Body; !bytes.Contains(body, []byte(`,"version":3,`)) {
		t.Errorf("%s", body)
	}
}

func TestAnEmptyInputValueIsNotAMissingOne(t *testing.T) {
	t.Parallel()
	r := okRow(t)
	r.Result.Fields = []prism.FieldValue{{Key: "subject", Value: ""}}
	if body := one(t, contract.JSONL, ticketTable(), r).Body; !bytes.Contains(body, []byte(`"subject":"","body":null,`)) {
		t.Errorf("%s", body)
	}
	if body := one(t, contract.CSV, ticketTable(), r).Body; !bytes.Contains(body, []byte("Z,,,Refund")) {
		t.Errorf("%s", body)
	}
}

func TestAnEncoderLeavesWhatIsInTheBufferAlone(t *testing.T) {
	t.Parallel()
	for _, f := range api.Formats() {
		e, err := NewEncoder(f, api.TextStyle{}, ticketTable())
		if err != nil {
			t.Fatal(err)
		}
		want := one(t, f, ticketTable(), okRow(t)).Body
		got, err := e.Row(e.Header([]byte("before")), okRow(t).under(ticketTable()))
		if err != nil || string(got) != "before"+string(want) {
			t.Errorf("%s: %q, %v", f, got, err)
		}
	}
}
