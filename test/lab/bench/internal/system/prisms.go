package system

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
)

// Prism is a prism that the benchmark uses, with one call to it.
type Prism struct {
	Name       string // in reports
	Slug       string
	Definition string // the body of POST /v1/prisms
	Fields     string // the member fields of a create call, as JSON
	Script     model.Script
}

// CreatePath is the path of create calls.
func (p Prism) CreatePath() string { return "/v1/prisms/" + p.Slug + "/results" }

// Body is the body of a create call; an empty key means none.
func (p Prism) Body(key string) string {
	if key != "" {
		key = `,"idempotency_key":"` + key + `"`
	}
	return `{"fields":` + p.Fields + key + `}`
}

// Small has two questions.
var Small = newPrism("two questions", "small",
	[]value{{"message", "My card was stolen yesterday and somebody pays with it. Please block it now."}},
	[]question{
		{Key: "reason", Type: "choice", Text: "What is the message about?", Options: []option{
			{"card", "Card", "lost, stolen, blocked and expired cards"},
			{"payment", "Payment", "charges, refunds, transfers and fees"},
			{"account", "Account", "login, password, address and profile"},
			{"other", "Other", "anything else"},
		}},
		{Key: "urgent", Type: "yes_no", Text: "Does the customer need a reply within the hour?"},
	})

// Large is a realistic prism: twelve questions of eight described options each, 18 KB of definition.
var Large = newPrism("twelve questions", "large",
	[]value{
		{"subject", "Order 4711 arrived damaged and I was charged twice"},
		{"message", "Hello, I ordered a coffee machine on Monday. The box was open when the courier left it at my " +
			"neighbour's door, and the glass jug is broken. On top of that my bank statement shows the amount twice, once " +
			"on Monday and once on Tuesday. I need the machine for a party on Saturday, so please send a new one by " +
			"express and return the second charge. I wrote to you yesterday and got no reply. Thank you, Ada"},
	}, largeQuestions())

// Prisms are all prisms, in the order of reports.
func Prisms() []Prism { return []Prism{Small, Large} }

type value struct{ key, text string }

type option struct {
	Key         string `json:"key"`
	Label       string `json:"label"`
	Description string `json:"description"`
}

type question struct {
	Key     string   `json:"key"`
	Type    string   `json:"type"`
	Text    string   `json:"text"`
	Options []option `json:"options,omitempty"`
}

func newPrism(name, slug string, fields []value, questions []question) Prism {
	var keys, values, answers []string
	for _, f := range fields {
		keys = append(keys, fmt.Sprintf(`{"key":%q,"label":%q}`, f.key, f.key))
		values = append(values, fmt.Sprintf("%q:%q", f.key, f.text))
	}
	for i, q := range questions {
		answers = append(answers, fmt.Sprintf("%q:%s", q.Key, q.answer(i)))
	}
	asked, err := json.Marshal(questions)
	if err != nil {
		panic(err) // strings and slices always have a JSON form
	}
	return Prism{
		Name: name, Slug: slug,
		Definition: `{"slug":"` + slug + `","fields":[` + strings.Join(keys, ",") + `],"questions":` + string(asked) + `}`,
		Fields:     "{" + strings.Join(values, ",") + "}",
		Script: model.Script{
			Question: questions[0].Key,
			Response: []byte(`{"object":"structured_decision","answers":{` + strings.Join(answers, ",") +
				`},"usage":{"input_tokens":4242,"output_tokens":12}}`),
		},
	}
}

// weights are rounded probabilities, as model hosts return them: they do not sum to 1.
var weights = []float64{0.6213, 0.1437, 0.0921, 0.0604, 0.0389, 0.0211, 0.0132, 0.0081}

// answer is the model's answer to the question. shift moves the most probable option.
func (q question) answer(shift int) string {
	if q.Type == "yes_no" {
		return `{"type":"noul","noul":0.8125}`
	}
	n := len(q.Options)
	var sum float64
	for _, w := range weights[:n] {
		sum += w
	}
	probabilities := make([]string, n)
	for i, o := range q.Options {
		probabilities[i] = fmt.Sprintf("%q:%.4f", o.Key, weights[(i+shift)%n]/sum)
	}
	return `{"type":"choice","probabilities":{` + strings.Join(probabilities, ",") + `}}`
}

func largeQuestions() []question {
	subjects := []struct{ key, noun string }{
		{"topic", "the order"},
		{"delivery", "the delivery"},
		{"payment", "the payment"},
		{"refund", "the refund"},
		{"product", "the product"},
		{"packaging", "the packaging"},
		{"account", "the account"},
		{"staff", "our staff"},
		{"website", "the website"},
		{"promise", "a promised date"},
		{"competitor", "a competitor"},
		{"history", "earlier contact"},
	}
	stances := []option{
		{"absent", "Not mentioned", "The customer says nothing about %s, and nothing in the message lets a reader conclude anything about it."},
		{"praise", "Praise", "The customer is pleased with %s and says so, or thanks us for something that has to do with it."},
		{"neutral", "Plain mention", "The customer mentions %s as a fact that helps us to understand the rest, and does not judge it in any way."},
		{"question", "Question", "The customer asks something about %s and expects information from us, but no other action of ours."},
		{"request", "Request", "The customer wants us to change, repeat, cancel or speed up something that concerns %s."},
		{"minor", "Small complaint", "The customer finds fault with %s, but can live with the matter and does not ask for anything in return."},
		{"major", "Serious complaint", "The customer reports damage, loss or a broken agreement that concerns %s and expects a remedy."},
		{"threat", "Threat", "The customer announces a consequence because of %s: a lawyer, a public review, a chargeback or leaving us."},
	}
	questions := make([]question, len(subjects))
	for i, s := range subjects {
		q := question{Key: s.key, Type: "choice", Text: "What does the customer say about " + s.noun + "?"}
		for _, o := range stances {
			q.Options = append(q.Options, option{s.key + "_" + o.Key, o.Label, fmt.Sprintf(o.Description, s.noun)})
		}
		questions[i] = q
	}
	return questions
}
