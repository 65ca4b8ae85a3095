package check

import (
	"fmt"
	"math"
	"strconv"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

const (
	// leastMass is the label mass below which a model wanted to say something else (the alert PrismModelLabelMassLow).
	leastMass = 0.5
	// mostBias is how far two orders of options may be apart.
	mostBias = 0.1
	// longTime leaves no time for a second try.
	longTime = contract.ModelWait / 2
)

// parts collects what was found.
type parts []api.CheckedPart

func (p *parts) add(part api.ModelPart, status api.PartStatus, text, write string) {
	checked := api.CheckedPart{Part: part, Status: status, Text: text}
	if write != "" {
		checked.Write = &write
	}
	*p = append(*p, checked)
}

// Parts says what works of a model that did this with Asks.
func Parts(m *models.Model, did []ask.Checked) []api.CheckedPart {
	var p parts
	last := did[len(did)-1]
	if !p.answered(last.Report) {
		return p
	}
	logprobs := m.API.Probabilities == api.Logprobs
	if last.Code == prism.CodeNoLogProbabilities {
		p.add(api.PartLogProbabilities, api.PartFailed, "the replies have no log-probabilities", "probabilities: stated")
	} else if logprobs {
		p.add(api.PartLogProbabilities, api.PartOK, "the replies have log-probabilities", "")
	}
	if did[0].Thinks {
		status, text := api.PartDoubt, "the model thinks before it answers, which costs time and tokens"
		if logprobs {
			status, text = api.PartFailed, "the model thinks before it answers, so its first token is no label"
		}
		p.add(api.PartThinking, status, text, "extra: {reasoning_effort: none}, or extra: {chat_template_kwargs: {enable_thinking: false}} of a server of your own, or probabilities: stated")
	} else {
		p.add(api.PartThinking, api.PartOK, "the model answers at once", "")
	}
	p.labelMass(did)
	if !last.OK() {
		if last.Code == prism.CodeNoUsableAnswer {
			write := "limit: 16384 for a model that thinks, response_format: json_object, or host: the name of the built-in host"
			if logprobs {
				write = "top_logprobs: 20, or probabilities: stated"
			}
			p.add(api.PartAnswers, api.PartFailed, last.Error, write)
		}
		return p
	}
	p.answers(m, did)
	if usage := did[0].Call.Usage; !m.Remote() {
		p.add(api.PartTokens, api.PartOK, "no host is called, so nothing is counted", "")
	} else if usage.InputTokens == nil || usage.OutputTokens == nil {
		p.add(api.PartTokens, api.PartDoubt, "the host does not count tokens, so their cost is not known", "price: {currency: USD, per_call: …}")
	} else {
		p.add(api.PartTokens, api.PartOK, fmt.Sprintf("%d tokens in, %d out", *usage.InputTokens, *usage.OutputTokens), "")
	}
	took := fmt.Sprintf("%d ms for two questions", did[0].TookMS)
	if did[0].TookMS > longTime.Milliseconds() {
		p.add(api.PartTime, api.PartDoubt, took+", of 15 seconds", "fallback: [NAME] of a quicker model")
	} else {
		p.add(api.PartTime, api.PartOK, took, "")
	}
	return p
}

// answered adds whether the host answered a call with an answer of a model.
func (p *parts) answered(r ask.Report) bool {
	status := "status " + strconv.Itoa(r.Status)
	reached := func() { p.add(api.PartReached, api.PartOK, "the host answers", "") }
	key := func() { reached(); p.add(api.PartKey, api.PartOK, "the host takes the key", "") }
	request := func() { key(); p.add(api.PartRequest, api.PartOK, "the host takes the request", "") }
	switch r.Class {
	case failure.Unavailable:
		p.add(api.PartReached, api.PartFailed, unreached(r, status), writeOfCause(r.Cause))
	case failure.Limited:
		p.add(api.PartReached, api.PartFailed, "the host limits the rate of calls ("+status+")", "max_in_flight: a smaller number, or fallback: [NAME]")
	case failure.NotFound:
		p.add(api.PartReached, api.PartFailed, "the host does not know the model or the path ("+status+")", "model, base_url, path or query: as the host calls them")
	case failure.RefusedKey:
		reached()
		write := "api_key_env: NAME of a variable with a valid key, or auth: {header: api-key} for a host that wants it there"
		if r.Cause == upstream.ByProxy || r.Status == 407 {
			write = "proxy and proxy_password_env: as the proxy wants them"
		}
		p.add(api.PartKey, api.PartFailed, r.Error, write)
	case failure.Exhausted:
		reached()
		p.add(api.PartKey, api.PartFailed, r.Error, "fallback: [NAME], or nothing once the balance is paid")
	case failure.Parameter, failure.TooLong, failure.Content:
		key()
		p.add(api.PartRequest, api.PartFailed, r.Error, writeOfParameter(r))
	case failure.Unreadable:
		request()
		p.add(api.PartJSON, api.PartFailed, r.Error+" ("+r.Cause+")", "base_url or path: of the API, not of a page")
	default:
		request()
		p.add(api.PartJSON, api.PartOK, "the host answers in JSON", "")
		return true
	}
	return false
}

func unreached(r ask.Report, status string) string {
	switch {
	case r.Code == prism.CodeTimeout:
		return "the host did not answer within 15 seconds"
	case r.Status > 0:
		return "the host is not ready (" + status + ")"
	default:
		return "there is no connection to the host (" + r.Cause + ")"
	}
}

func writeOfCause(cause string) string {
	switch cause {
	case "tls":
		return "ca_file: of the authority that signed the certificate"
	case upstream.ByProxy:
		return "proxy: http://user@host:port"
	case "dns", "refused", upstream.TimedOut, "cut", "connection":
		return "base_url: as the host says, or proxy: if calls have to leave through one"
	}
	return ""
}

// writeOfParameter is what to write when the host refused a parameter.
func writeOfParameter(r ask.Report) string {
	if r.Class == failure.TooLong {
		return "limit or model: for a context of 32768 tokens"
	}
	if r.Class == failure.Content {
		return "fallback: [NAME] with fallback_on: [content], for texts that the host filters"
	}
	switch r.Parameter {
	case "max_tokens":
		return "limit_parameter: max_completion_tokens, and limit: 16 for a host that wants more than 1"
	case "max_completion_tokens":
		return "limit_parameter: max_tokens, and limit: 16 for a host that wants more than 1"
	case "temperature":
		return "temperature: omit"
	case "top_logprobs":
		return "top_logprobs: 5, or probabilities: stated"
	case "logprobs":
		return "probabilities: stated, or logprobs_parameter: logprobs for a host that wants a number"
	case "response_format":
		return "response_format: json_object"
	case "n":
		return "max_n: 1"
	case "model":
		return "model: as the host calls it"
	case "messages":
		return "model: one that takes a system message"
	case "":
		return "host: the name of the built-in host, if there is one"
	}
	return "extra: without " + r.Parameter
}

// labelMass adds the least part of the probability that the labels of a question had, where it is known.
func (p *parts) labelMass(did []ask.Checked) {
	least := math.Inf(1)
	for _, d := range did {
		for _, mass := range d.Call.LabelMass {
			least = min(least, mass.Mass)
		}
	}
	switch {
	case math.IsInf(least, 1):
	case did[len(did)-1].Code == prism.CodeLabelMassLow:
		p.add(api.PartLabelMass, api.PartFailed, fmt.Sprintf("the labels have %.3g of the probability", least), "probabilities: stated, or min_label_mass: 0")
	case least < leastMass:
		p.add(api.PartLabelMass, api.PartDoubt, fmt.Sprintf("the labels have %.3g of the probability", least), "probabilities: stated")
	default:
		p.add(api.PartLabelMass, api.PartOK, fmt.Sprintf("the labels have %.3g of the probability", least), "")
	}
}

// answers adds whether the answers are the known ones, and whether the order of options changes them.
func (p *parts) answers(m *models.Model, did []ask.Checked) {
	var chosen []prism.Answer
	right := true
	for _, d := range did {
		list, err := answerjson.Parse(d.Answers)
		if err != nil { // not possible: package ask wrote it
			return
		}
		for _, a := range list {
			if len(a.Probabilities) == 0 { // whether something is broken
				right = right && a.Probability < 0.5
				continue
			}
			right = right && a.Chosen == green
			chosen = append(chosen, a)
		}
	}
	if right {
		p.add(api.PartAnswers, api.PartOK, "the known questions are answered right", "")
	} else {
		p.add(api.PartAnswers, api.PartDoubt, "a known question is answered wrong", "model: a larger one")
	}
	bias := 0.0
	for _, p := range chosen[0].Probabilities {
		turned, _ := chosen[len(chosen)-1].ProbabilityOf(p.Key)
		bias += math.Abs(p.Probability-turned) / 2
	}
	text := fmt.Sprintf("turning the options round moves %.3g of the probability", bias)
	switch {
	case bias <= mostBias:
		p.add(api.PartOrderBias, api.PartOK, text, "")
	case m.API.Probabilities == api.Logprobs && m.Order == "":
		p.add(api.PartOrderBias, api.PartDoubt, text, "order: cyclic")
	default:
		p.add(api.PartOrderBias, api.PartDoubt, text, "")
	}
}
