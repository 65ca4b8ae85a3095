package client

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

const rawJSON = `{"topic":{"type":"choice","value":"billing","probabilities":{"billing":0.75,"delivery":0.25},"confidence":0.5},` +
	`"urgent":{"type":"yes_no","probability":0.9},"mood":{"type":"scale","level":"low","probabilities":{"low":1,"high":0}},` +
	`"about":{"type":"tags","values":["vip","price"],"probabilities":{"price":0.5,"vip":0.75}},"none":{"type":"tags","values":[],"probabilities":{"price":0}}}`

func TestTypedAnswers(t *testing.T) {
	t.Parallel()
	var r Result
	if err := json.Unmarshal([]byte(strings.Replace(okJSON, `{"z":"yes","a":0.5,"n":null}`, rawJSON, 1)), &r); err != nil {
		t.Fatal(err)
	}
	topic, err := r.Answers.Choice("topic")
	if err != nil || topic.Value != "billing" || topic.Confidence != 0.5 || topic.Probabilities[0] != (Probability{Key: "billing", P: 0.75}) {
		t.Errorf("got %+v, %v", topic, err)
	}
	urgent, err := r.Answers.YesNo("urgent")
	if err != nil || urgent.Probability != 0.9 {
		t.Errorf("got %+v, %v", urgent, err)
	}
	mood, err := r.Answers.Scale("mood")
	if err != nil || mood.Level != "low" || len(mood.Probabilities) != 2 {
		t.Errorf("got %+v, %v", mood, err)
	}
	about, err := r.Answers.Tags("about")
	if err != nil || !slices.Equal(about.Values, []string{"vip", "price"}) || about.Probabilities[1] != (Probability{Key: "vip", P: 0.75}) {
		t.Errorf("got %+v, %v", about, err)
	}
	none, err := r.Answers.Tags("none")
	if err != nil || none.Values == nil || len(none.Values) != 0 || len(none.Probabilities) != 1 {
		t.Errorf("got %+v, %v", none, err)
	}
	choice := func(a Answers, q string) error { _, err := a.Choice(q); return err }
	yesNo := func(a Answers, q string) error { _, err := a.YesNo(q); return err }
	scale := func(a Answers, q string) error { _, err := a.Scale(q); return err }
	tags := func(a Answers, q string) error { _, err := a.Tags(q); return err }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"a choice that is yes_no", choice(r.Answers, "urgent"), `client: question "urgent" is of type yes_no, not choice`},
		{"a yes_no that is a scale", yesNo(r.Answers, "mood"), `client: question "mood" is of type scale, not yes_no`},
		{"a scale that is a choice", scale(r.Answers, "topic"), `client: question "topic" is of type choice, not scale`},
		{"a tags that is a choice", tags(r.Answers, "topic"), `client: question "topic" is of type choice, not tags`},
		{"a choice that is a tags", choice(r.Answers, "about"), `client: question "about" is of type tags, not choice`},
		{"an unknown question", choice(r.Answers, "topc"), `client: there is no question "topc": the questions are topic, urgent, mood, about, none`},
		{"a failed result", yesNo(nil, "urgent"), `client: no answer to "urgent": the result failed, or was read in another format than raw`},
		{"half an answer", choice(Answers{{Question: "q", Type: Choice}}, "q"), `client: the answer to question "q" is incomplete`},
		{"no probability", yesNo(Answers{{Question: "q", Type: YesNo}}, "q"), `client: the answer to question "q" is incomplete`},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, test.err, test.want)
		}
	}
}

// spec: format-raw, format-json
func TestAResultIsReadInEitherFormatAndWrittenInTheSame(t *testing.T) {
	t.Parallel()
	raw := strings.Replace(okJSON, `{"z":"yes","a":0.5,"n":null}`, rawJSON, 1)
	r := Result{Row: Row{{Column: "of another", Value: 1.0}}}
	for _, test := range []struct {
		text          string
		answers, cols int
	}{{okJSON, 0, 3}, {raw, 5, 0}, {failedJSON, 0, 0}} {
		if err := json.Unmarshal([]byte(test.text), &r); err != nil || len(r.Answers) != test.answers || len(r.Row) != test.cols {
			t.Errorf("got %+v, %v", r, err)
		}
		if got, err := json.Marshal(r); err != nil || string(got) != test.text {
			t.Errorf("got  %s, %v\nwant %s", got, err, test.text)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	type named struct {
		Mood *float64 `json:"mood_average"`
	}
	type ticket struct {
		named
		ID     string `json:"result_id"`
		Topic  string `json:"topic"`
		Later  string `json:"later,omitempty"`
		Mine   string `json:"-"`
		hidden string
	}
	const two = `{"result_id":"1","topic":"billing","mood_average":1.5,"other":{}}` + "\n" + `{"result_id":"2","topic":null,"mood_average":null}` + "\n"
	open := func(text string) (*closing, error) { return &closing{Reader: strings.NewReader(text)}, nil }
	t.Run("rows are values of the type", func(t *testing.T) {
		t.Parallel()
		stream, err := open(two)
		var got []ticket
		for one, err := range Rows[ticket](stream, err) {
			if err != nil || one.hidden != "" {
				t.Fatal(err)
			}
			got = append(got, one)
		}
		if len(got) != 2 || got[0].ID != "1" || got[0].Topic != "billing" || *got[0].Mood != 1.5 || got[1].ID != "2" || got[1].Topic != "" || got[1].Mood != nil {
			t.Errorf("got %+v", got)
		}
		if !stream.closed {
			t.Error("the stream is open")
		}
	})
	t.Run("a map takes every column", func(t *testing.T) {
		t.Parallel()
		stream, err := open(two)
		for one, err := range Rows[map[string]any](stream, err) {
			if err != nil || one["topic"] != "billing" {
				t.Errorf("got %v, %v", one, err)
			}
			break
		}
		if !stream.closed {
			t.Error("the stream is open")
		}
	})
	t.Run("an empty stream has no rows", func(t *testing.T) {
		t.Parallel()
		for one, err := range Rows[ticket](open("")) {
			t.Error(one, err)
		}
	})
	lost := errors.New("lost")
	for _, test := range []struct {
		name, text string
		before     error // of the call
		want       string
		rows       int
	}{
		{name: "a refused call", before: ErrNotFound, want: "not_found"},
		{name: "another format", text: "result_id,topic\r\n", want: "client: row 1 is not a JSON object: ask for the format jsonl"},
		{name: "a member without a column", text: `{"result_id":"1","mood_average":1}` + "\n", want: `client: client.ticket.Topic: there is no column "topic": the columns are result_id, mood_average`},
		{name: "an embedded member without a column", text: `{"result_id":"1","topic":"a"}` + "\n", want: `client: client.named.Mood: there is no column "mood_average"`},
		{name: "another type", text: two + `{"topic":7}` + "\n", rows: 2, want: "client: row 3: json: cannot unmarshal number into Go struct field"},
		{name: "a lost connection", text: two + `{"result`, rows: 2, before: nil, want: "lost"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stream io.ReadCloser
			if test.before == nil {
				stream = &closing{Reader: io.MultiReader(strings.NewReader(test.text), failing{lost})}
			}
			var errs []error
			rows := 0
			for _, err := range Rows[ticket](stream, test.before) {
				if err == nil {
					rows++
					continue
				}
				errs = append(errs, err)
			}
			if rows != test.rows || len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want) {
				t.Errorf("%d rows, %v", rows, errs)
			}
			if test.want == "lost" && !slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, lost) }) {
				t.Error(errs)
			}
		})
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// spec: label-value
func TestALabelOfATagsIsAListOfKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]LabelValue{
		`["a","b"]`: LabelOf("a", "b"), `[]`: LabelOf(), `true`: "true", `"a"`: "a", `null`: "",
	} {
		var got LabelValue
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %q, %v", text, got, err)
		}
		if b, err := json.Marshal(want); err != nil || string(b) != text {
			t.Errorf("%q is written as %s, %v", want, b, err)
		}
	}
	if keys, ok := LabelOf("a", "b").Keys(); !ok || !slices.Equal(keys, []string{"a", "b"}) {
		t.Errorf("the keys are %v, %v", keys, ok)
	}
	if keys, ok := LabelValue("a").Keys(); ok || keys != nil {
		t.Errorf("a text has the keys %v", keys)
	}
	var number LabelValue
	if json.Unmarshal([]byte("1"), &number) == nil {
		t.Error("a number is a label")
	}
}
