package ask

import (
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Ending is how the ask of a model ended.
type Ending struct {
	Class failure.Class
	Code  prism.ErrorCode // empty: OK
}

// Endings are how the ask of a model can end.
func Endings() []Ending {
	endings := []Ending{
		{failure.OK, ""},
		{failure.Unavailable, prism.CodeTimeout},
		{failure.Unavailable, prism.CodeUnreachable},
		{failure.Unavailable, prism.CodeRefused},
		{failure.NoAnswer, prism.CodeNoUsableAnswer},
		{failure.NoAnswer, prism.CodeLabelMassLow},
		{failure.NoAnswer, prism.CodeNoLogProbabilities},
	}
	for _, class := range failure.Classes() {
		if class != failure.Unavailable && class != failure.NoAnswer {
			endings = append(endings, Ending{class, prism.ErrorCode(class)})
		}
	}
	return endings
}

// noLogProbsText is the error text of both the result and the log (spec: no-log-probabilities).
const noLogProbsText = "The model service returned no log-probabilities, which the provider openai-chat needs."

// texts are the error texts of classes that say all (spec: error-texts).
var texts = map[failure.Class]string{
	failure.Exhausted:  "The model service has no balance left.",
	failure.RefusedKey: "The model service refused the key.",
	failure.NotFound:   "The model service does not know the model.",
	failure.Content:    "The model service filtered the text.",
	failure.TooLong:    "The text is too long for the model.",
	failure.Unreadable: "The model service did not answer in JSON.",
}

// noPlace is the cause of a timeout of a call that never got a place at a model.
const noPlace = "no_place"

// Report is an outcome with its error code and the fault of the last attempt, for metrics and logs. The class of the fault is that of
// the report.
type Report struct {
	contract.Outcome
	upstream.Fault
	Code prism.ErrorCode // empty: OK
}

// OK tells whether all questions are answered.
func (r Report) OK() bool { return r.Code == "" }

// Ending is how the ask ended.
func (r Report) Ending() Ending { return Ending{r.Class, r.Code} }

func failed(class failure.Class, code prism.ErrorCode, text string) Report {
	return Report{Fault: upstream.Fault{Class: class}, Code: code, Outcome: contract.Outcome{Error: text}}
}

func timedOut() Report { return failed(failure.Unavailable, prism.CodeTimeout, contract.TimeoutText) }

func notConfigured(name string) Report {
	r := failed("", prism.CodeModelNotConfigured, "The model "+name+" is not configured.")
	r.Call = &prism.ModelCall{ErrorCode: r.Code, Name: name}
	return r
}

// report makes the Report of a call of a model from the reply or the fault of its last attempt (spec: error-texts).
func report(m *models.Model, c provider.Call, r provider.Reply, f *upstream.Fault) Report {
	if f == nil {
		return answered(m, c, r)
	}
	v := Report{Fault: *f, Code: prism.ErrorCode(f.Class)}
	refused := "The model service refused the call (status " + strconv.Itoa(f.Status) + ")."
	switch {
	case f.Cause == upstream.Cancelled: // by the end of the wait: nobody reads the report of a call that another one cancelled
		return timedOut()
	case f.Class == failure.Unavailable && f.Status == 0:
		v.Code, v.Error = prism.CodeUnreachable, contract.UnreachableText
	case f.Class == failure.Unavailable:
		v.Code, v.Error = prism.CodeRefused, refused
	case f.Class == failure.Parameter && f.Parameter != "":
		v.Error = "The model service refused the parameter " + f.Parameter + "."
	case texts[f.Class] != "":
		v.Error = texts[f.Class]
	default: // limited, and a parameter without a name
		v.Error = refused
	}
	return v
}

// answered is the Report of a call with a reply.
func answered(m *models.Model, c provider.Call, r provider.Reply) Report {
	for i, q := range c.Questions {
		for _, mass := range r.LabelMass {
			if mass.Question == q.Key && m.API.Probabilities == api.Logprobs && mass.Mass < m.LeastLabelMass() {
				return failed(failure.NoAnswer, prism.CodeLabelMassLow, "The model did not say one of the labels of question "+c.Name(q)+".")
			}
		}
		switch {
		case c.Samples > 0: // its samples are read together with those of other calls
		case i < len(r.Answers) && r.Answers[i] != nil:
		case r.Missing == prism.CodeNoLogProbabilities:
			return failed(failure.NoAnswer, r.Missing, noLogProbsText)
		default:
			return noUsableAnswer(c.Name(q))
		}
	}
	return Report{Fault: upstream.Fault{Class: failure.OK}}
}

// tooManyCalls is the report of an ask whose questions a model would need too many calls for (spec: calls-of-a-result).
func tooManyCalls(n int) Report {
	return failed(failure.NoAnswer, prism.CodeNoUsableAnswer,
		"The model would need "+strconv.Itoa(n)+" calls for these questions, and makes at most "+strconv.Itoa(contract.MaxCalls)+".")
}

func noUsableAnswer(question string) Report {
	return failed(failure.NoAnswer, prism.CodeNoUsableAnswer, "The model gave no usable answer to question "+question+".")
}
