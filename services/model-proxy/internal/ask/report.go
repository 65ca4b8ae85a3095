package ask

import (
	"strconv"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Reason is how an ask ended. It is a label of metrics and a member of log lines.
type Reason string

// The reasons.
const (
	OK            Reason = "ok"
	Unusable      Reason = "unusable"
	NoLogProbs    Reason = "no_log_probabilities"
	Refused       Reason = "refused"
	Unreachable   Reason = "unreachable"
	Timeout       Reason = "timeout"
	NotConfigured Reason = "not_configured" // no model was asked
	Skipped       Reason = "skipped"        // of a second route whose models are skipped or full: no model was asked
)

// Reasons are the reasons with which the ask of a model can end.
func Reasons() []Reason { return []Reason{OK, Unusable, NoLogProbs, Refused, Unreachable, Timeout} }

// codes are the error codes of the reasons (spec: error-codes).
var codes = map[Reason]prism.ErrorCode{
	Unusable: prism.CodeNoUsableAnswer, NoLogProbs: prism.CodeNoLogProbabilities, Refused: prism.CodeRefused,
	Unreachable: prism.CodeUnreachable, Timeout: prism.CodeTimeout, NotConfigured: prism.CodeModelNotConfigured,
	Skipped: prism.CodeSkipped,
}

// noLogProbsText is the error text of both the result and the log (spec: no-log-probabilities).
const noLogProbsText = "The model service returned no log-probabilities, which the provider openai-chat needs."

// noPlace is the cause of a timeout of a call that never got a place at a model.
const noPlace = "no_place"

// Report is an outcome with its reason and the fault of the last attempt, for metrics and logs.
type Report struct {
	contract.Outcome
	upstream.Fault
	Reason Reason
}

// fallsBack tells whether the next model of the route may be asked (spec: fallback).
func (r Report) fallsBack() bool {
	return r.Reason == Timeout || r.Reason == Unreachable || r.Reason == Refused && r.Retryable()
}

func failed(r Reason, text string) Report {
	return Report{Reason: r, Outcome: contract.Outcome{Error: text}}
}

func timedOut() Report { return failed(Timeout, contract.TimeoutText) }

func notConfigured(name string) Report {
	r := failed(NotConfigured, "The model "+name+" is not configured.")
	r.Call = &prism.ModelCall{ErrorCode: codes[NotConfigured], Name: name}
	return r
}

// report makes the Report of a call from the reply or the fault of its last attempt (spec: error-texts).
func report(c provider.Call, r provider.Reply, f *upstream.Fault) Report {
	if f == nil {
		for i, q := range c.Questions {
			if i < len(r.Answers) && r.Answers[i] != nil {
				continue
			}
			if r.NoLogProbs {
				return failed(NoLogProbs, noLogProbsText)
			}
			return failed(Unusable, "The model gave no usable answer to question "+q.Key+".")
		}
		return Report{Reason: OK}
	}
	if f.Cause == upstream.Cancelled { // by the end of the wait: nobody reads the report of a call that another one cancelled
		return timedOut()
	}
	v := failed(Unreachable, contract.UnreachableText)
	if f.Status != 0 {
		v = failed(Refused, "The model service refused the call (status "+strconv.Itoa(f.Status)+").")
	}
	v.Fault = *f
	return v
}
