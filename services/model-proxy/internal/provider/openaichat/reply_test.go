package openaichat

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// of is a reply with these log-probabilities.
func of(logProbs string) string {
	return `{"choices":[{"message":{"content":"Yes"},"logprobs":` + logProbs + `}]}`
}

// first is a reply with these members of its first token.
func first(members string) string { return of(`{"content":[{` + members + `}]}`) }

// likely is a reply with these likely tokens.
func likely(tokens string) string {
	return first(`"token":"Yes","logprob":-0.1,"top_logprobs":` + tokens)
}

// half is the log-probability of 0.5.
const half = "-0.6931471805599453"

// replies to a yes_no, with the probability of yes, or -1 if there is no usable answer, and what was absent.
var replies = map[string]struct {
	raw    string
	want   float64
	absent []string
}{
	"forms of a label add up": {
		likely(`[{"token":"Yes","logprob":-1.6094379124341003},{"token":" yes","logprob":-1.6094379124341003},{"token":"NO\n","logprob":-1.6094379124341003}]`),
		2.0 / 3, nil,
	},
	"an absent label has what is left":    {first(`"token":"No","logprob":-0.5,"top_logprobs":[{"token":"No","logprob":-0.5},{"token":"Nope","logprob":-1}]`), 0.0404826, []string{"yes"}},
	"the host's sign for unlikely is 0":   {first(`"token":"Yes","logprob":-9999.0,"top_logprobs":[{"token":"no","logprob":-9999.0}]`), -1, nil},
	"a token that was said counts":        {first(`"token":"Yes","logprob":-0.10536051565782628,"top_logprobs":[]`), 0.9, []string{"no"}},
	"a token that was said counts once":   {first(`"token":"Yes","logprob":` + half + `,"top_logprobs":[{"token":"Yes","logprob":` + half + `},{"token":"No","logprob":` + half + `}]`), 0.5, nil},
	"likely tokens may be left out":       {first(`"token":"No","logprob":-0.10536051565782628`), 0.1, []string{"yes"}},
	"a log-probability far above 0":       {first(`"token":"Yes","logprob":5`), -1, nil},
	"a part of a character is no label":   {first(`"token":"\ud83d","logprob":-5,"top_logprobs":[{"token":"\ud83d","logprob":-5},{"token":"No","logprob":-0.0001}]`), 0, []string{"yes"}},
	"bytes are a token without text":      {likely(`[{"token":"","logprob":-0.1,"bytes":[89,101,115]},{"token":"No","logprob":-2.4}]`), math.Exp(-0.1) / (math.Exp(-0.1) + math.Exp(-2.4)), nil},
	"bytes are a token that is broken":    {likely(`[{"token":"\ufffd","logprob":-0.1,"bytes":[89,101,115]},{"token":"No","logprob":-2.4}]`), math.Exp(-0.1) / (math.Exp(-0.1) + math.Exp(-2.4)), nil},
	"bytes count for nothing beside text": {likely(`[{"token":"Yes","logprob":-0.1,"bytes":[78,111]},{"token":"No","logprob":-2.4,"bytes":"x"}]`), math.Exp(-0.1) / (math.Exp(-0.1) + math.Exp(-2.4)), nil},
	"marks of a space":                    {first(`"token":"▁Yes","logprob":` + half + `,"top_logprobs":[{"token":"▁Yes","logprob":` + half + `},{"token":"ĠNo","logprob":` + half + `}]`), 0.5, nil},
	"likely tokens as an object":          {likely(`{"Yes":` + half + `,"No":` + half + `}`), 0.5, nil},
	"log-probabilities as a list":         {of(`[{"content":[{"token":"Yes","logprob":` + half + `,"top_logprobs":[{"token":"No","logprob":` + half + `}]}]},{"content":[]}]`), 0.5, nil},
	"tokens as a list":                    {of(`[{"token":"Yes","logprob":` + half + `,"top_logprobs":[{"token":"No","logprob":` + half + `}]},{"token":"No","logprob":0}]`), 0.5, nil},
	"the older form":                      {of(`{"tokens":["Yes","."],"token_logprobs":[` + half + `,0],"top_logprobs":[{"No":` + half + `,"Yes":` + half + `},{"No":0}],"text_offset":[0,3]}`), 0.5, nil},
	"the older form without likely ones":  {of(`{"tokens":["No"],"token_logprobs":[-0.10536051565782628],"top_logprobs":null}`), 0.1, []string{"yes"}},
	"the last of two members":             {likely(`[{"token":"No","logprob":-0.1,"token":"Yes","logprob":` + half + `},{"token":"No","logprob":` + half + `}],"top_logprobs":[{"token":"Yes","logprob":` + half + `},{"token":"No","logprob":` + half + `}]`), 0.5, nil},
	"null of a label is 0":                {likely(`[{"token":"Yes","logprob":null},{"token":"No","logprob":-0.1}]`), 0, nil},
	"minus infinity of a label is 0":      {likely(`[{"token":"Yes","logprob":-Infinity},{"token":"No","logprob":-0.1}]`), 0, nil},
	"NaN of a label":                      {likely(`[{"token":"Yes","logprob":NaN},{"token":"No","logprob":-0.1}]`), -1, nil},
	"infinity of a label":                 {likely(`[{"token":"Yes","logprob":Infinity},{"token":"No","logprob":-0.1}]`), -1, nil},
	"NaN of another token":                {likely(`[{"token":"Yes","logprob":` + half + `},{"token":"No","logprob":` + half + `},{"token":"NaN","logprob":NaN}]`), 0.5, nil},
	"a label without a number":            {likely(`[{"token":"Yes"},{"token":"No","logprob":-0.1}]`), -1, nil},
	"further choices are passed over":     {strings.TrimSuffix(likely(`{"Yes":`+half+`,"No":`+half+`}`), "]}") + `,{"logprobs":7},null]}`, 0.5, nil},
}

// spec: chat-labels, absent-labels, lenient-replies
func TestLabelsAreReadOffTheFirstToken(t *testing.T) {
	t.Parallel()
	q := prism.Question{Key: "q", Type: prism.YesNo, Text: "?"}
	for name, c := range replies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Format(provider.DefaultProfile()).Decode([]byte(c.raw), []prism.Question{q})
			a := r.Answers[0]
			if (a == nil) != (c.want < 0) || a != nil && math.Abs(a.Probability-c.want) > 1e-6 {
				t.Fatalf("got %+v, want %v", a, c.want)
			}
			var absent []string
			for _, of := range r.Absent {
				absent = append(absent, of.Keys...)
			}
			if c.want >= 0 && !reflect.DeepEqual(absent, c.absent) {
				t.Errorf("%v are absent, want %v", absent, c.absent)
			}
		})
	}
}

// spec: chat-labels, lenient-replies, label-mass-low, errors-in-a-200
func TestRepliesThatWereReadWrongly(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(t *testing.T, v ask.Report, asked int){
		"02-twice-given-member": probably,
		"09-token-without-text": probably,
		"03a": func(t *testing.T, v ask.Report, asked int) {
			if v.Class != failure.Limited || v.Status != 429 || asked < 2 || !v.Overloaded {
				t.Errorf("got %+v after %d calls", v, asked)
			}
		},
		"11-think": func(t *testing.T, v ask.Report, asked int) {
			if v.Code != prism.CodeLabelMassLow || v.Error != "The model did not say one of the labels of question urgent." || asked != 1 {
				t.Errorf("got %+v after %d calls", v, asked)
			}
			if mass := v.Call.LabelMass; len(mass) != 1 || mass[0].Mass > 2e-6 {
				t.Errorf("the record has %+v", mass)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Answer(t, wire(), providertest.Urgent(), string(recorded(t, name)), check)
		})
	}
}

// probably checks an answer of 0.909, with the tokens of a reply that has them.
func probably(t *testing.T, v ask.Report, _ int) {
	t.Helper()
	answers, err := answerjson.Parse(v.Answers)
	if err != nil || math.Abs(answers[0].Probability-0.909) > 0.0005 || *v.Call.Usage.InputTokens != 90 || *v.Call.Usage.OutputTokens != 1 {
		t.Errorf("got %+v, %v", v, err)
	}
}

// spec: errors-in-a-200
func TestAChoiceThatIsAnErrorIsThatError(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]upstream.Fault{
		`{"choices":[{"finish_reason":"error","message":{"content":""}}]}`:                                            {Class: failure.Unavailable, Status: 502},
		`{"choices":[{"finish_reason":"error","error":{"code":429,"message":"x"}}]}`:                                  {Class: failure.Limited, Status: 429},
		`{"choices":[{"error":{"code":402,"message":"x"}}],"usage":{"prompt_tokens":9}}`:                              {Class: failure.Exhausted, Status: 402},
		`{"choices":[{"error":"Upstream idle timeout"}]}`:                                                             {Class: failure.Unavailable, Status: 502},
		`{"choices":[{"finish_reason":"length","error":{},"logprobs":{"content":[{"token":"Yes","logprob":-0.1}]}}]}`: {},
	} {
		r := Format(provider.DefaultProfile()).Decode([]byte(raw), []prism.Question{providertest.Urgent()})
		if (r.Fault == nil) != (want.Class == "") || r.Fault != nil && (r.Fault.Class != want.Class || r.Fault.Status != want.Status) {
			t.Errorf("%s: got %+v", raw, r.Fault)
		}
	}
}

// spec: unreadable-replies
func TestANumberThatIsNoneMakesAReplyUnreadable(t *testing.T) {
	t.Parallel()
	for raw, unreadable := range map[string]bool{
		likely(`[{"token":"Yes","logprob":NaN},{"token":"No","logprob":-0.1}]`):                  true,
		likely(`[{"token":"Yes","logprob":Infinity},{"token":"No","logprob":-0.1}]`):             true,
		likely(`[{"token":"x","logprob":NaN},{"token":"No","logprob":-2.5}]`):                    false,
		first(`"token":"Yes","logprob":-Infinity,"top_logprobs":[{"token":"x","logprob":-0.1}]`): false,
	} {
		if r := Format(provider.DefaultProfile()).Decode([]byte(raw), []prism.Question{providertest.Urgent()}); (r.Fault != nil) != unreadable {
			t.Errorf("%s: got %+v", raw, r.Fault)
		}
	}
}

func TestAReplyHoldsLittleHoweverManyPartsItHas(t *testing.T) { //nolint:paralleltest // it counts allocations
	many := func(part string) string { return strings.TrimSuffix(strings.Repeat(part+",", 100_000), ",") }
	for name, raw := range map[string]string{
		"choices":       `{"choices":[` + many(`{}`) + `]}`,
		"tokens":        of(`{"content":[` + many(`{"token":"x","logprob":-1}`) + `]}`),
		"likely tokens": likely(`[` + many(`{"token":"x"}`) + `]`),
		"texts":         likely(`{` + many(`"x":1`) + `}`),
		"bytes":         likely(`[{"token":"x","bytes":[` + many(`1`) + `]}]`),
	} {
		t.Run(name, func(t *testing.T) {
			used := testing.AllocsPerRun(1, func() {
				Format(provider.DefaultProfile()).Decode([]byte(raw), []prism.Question{{Key: "q", Type: prism.YesNo}})
			})
			if used > 2000 {
				t.Errorf("%v allocations", used)
			}
		})
	}
}
