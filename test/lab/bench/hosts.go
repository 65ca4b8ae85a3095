package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// ways are how a chat model is asked in one call, with the reply of a scripted host to the questions of system.Small, and the least rate
// of creates, of that of the decision model.
var ways = []struct {
	name, marker string
	reply        []string // the content of each choice
	least        float64
}{
	{"stated", `"urgent":{"type":"number"}`, []string{`{"reason":{"card":0.62,"payment":0.2,"account":0.1,"other":0.08},"urgent":0.81}`}, 0.7},
	{"sampled", `"urgent":{"type":"string","enum":["yes","no"]}`, samples("card", "card", "payment", "card", "other"), 0.6},
}

func samples(reasons ...string) (choices []string) {
	for _, r := range reasons {
		choices = append(choices, `{"reason":"`+r+`","urgent":"yes"}`)
	}
	return choices
}

// completion is a reply of a chat host.
func completion(contents []string) []byte {
	var choices []string
	for i, c := range contents {
		text, err := json.Marshal(c)
		if err != nil {
			panic(err) // a string always has a JSON form
		}
		choices = append(choices, fmt.Sprintf(`{"index":%d,"finish_reason":"stop","message":{"role":"assistant","content":%s,"refusal":null},"logprobs":null}`, i, text))
	}
	return []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"m","choices":[` + strings.Join(choices, ",") +
		`],"usage":{"prompt_tokens":242,"completion_tokens":60,"total_tokens":302}}`)
}

// hosts measures creates whose model is a chat host that states its probabilities, or of which samples are drawn, beside those of a
// decision model in the same rounds.
func (b *bench) hosts(ctx context.Context) error {
	all := scripts()
	for _, w := range ways {
		all = append(all, model.Script{Marker: w.marker, Response: completion(w.reply)})
	}
	m, err := model.New(0, all...)
	if err != nil {
		return err
	}
	defer m.Close()
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	contenders := []contender{}
	defer func() { closeAll(contenders) }()
	start := func(name, url string) error {
		c, err := same(data.One(ctx, b.bin, url))
		c.name = name
		contenders = append(contenders, c)
		return err
	}
	if err := start("native", m.URL()); err != nil {
		return err
	}
	for _, w := range ways {
		file := filepath.Join(b.dir, w.name+".yaml")
		text := "default: m\nmodels:\n  - {name: m, provider: openai-chat, host: openai, model: m, probabilities: " + w.name + ", base_url: \"" + m.URL() + "\"}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		if err := start(w.name, file); err != nil {
			return err
		}
	}
	rates, cpu := map[string][]float64{}, map[string][]float64{}
	for range b.Rounds {
		for _, c := range contenders {
			s, err := b.measure(ctx, c.systems[0], createCall, 0)
			if err != nil {
				return err
			}
			rates[c.name], cpu[c.name] = append(rates[c.name], s.Rate), append(cpu[c.name], s.total())
		}
	}
	for _, w := range ways {
		what := system.OneProcess + ": creates by a chat model, " + w.name
		b.report.add(b.out, beside("hosts", what+", of those of a decision model", "1/s", rates[w.name], rates["native"], w.least),
			plain("hosts", what+": processor time", "µs", cpu[w.name]))
	}
	return nil
}
