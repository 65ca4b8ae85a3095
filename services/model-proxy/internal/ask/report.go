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
	Skipped       Reason = "skipped"        // of a second model that the circuit breaker skips: no model was asked
)

// Reasons are all reasons that the ask of a model has.
func Reasons() []Reason { return []Reason{OK, Unusable, NoLogProbs, Refused, Unreachable, Timeout} }

// codes are the reasons for programs (spec: error-codes).
var codes = map[Reason]prism.ErrorCode{
	Unusable: prism.CodeNoUsableAnswer, NoLogProbs: prism.CodeNoLogProbabilities, Refused: prism.CodeRefused,
	Unreachable: prism.CodeUnreachable, Timeout: prism.CodeTimeout, NotConfigured: prism.CodeModelNotConfigured,
	Skipped: prism.CodeSkipped,
}

// noLogProbsText is what both the result and the log say (spec: no-log-probabilities).
const noLogProbsText = "The model service returned no log-probabilities, which the provider openai-chat needs."

// noPlace is the cause of a timeout without a place among the calls of a model.
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
	if f.Cause == upstream.Cancelled { // the report of a call that another call cancelled is not read, so the wait has ended
		return timedOut()
	}
	v := failed(Unreachable, contract.UnreachableText)
	if f.Status != 0 {
		v = failed(Refused, "The model service refused the call (status "+strconv.Itoa(f.Status)+").")
	}
	v.Fault = *f
	return v
}
