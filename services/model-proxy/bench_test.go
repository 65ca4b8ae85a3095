package modelproxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// BenchmarkAsk is an ask of a systemone model that answers at once: 2 questions, and 12 questions of 8 described options.
func BenchmarkAsk(b *testing.B) {
	for _, questions := range []int{2, 12} {
		b.Run(fmt.Sprint(questions), func(b *testing.B) {
			a, response := realistic(questions)
			s, err := New(Config{Provider: "systemone", BaseURL: respond(b, response)}, Deps{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.ReportAllocs()
			for b.Loop() {
				if out, err := s.Ask(b.Context(), a); err != nil || out.Failed() {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// realistic is an ask of choice questions, and a response of a systemone model.
func realistic(questions int) (contract.Ask, string) {
	a := contract.Ask{Hash: prism.DefinitionHash{1}, Fields: []prism.FieldValue{{Key: "text", Value: strings.Repeat("I was charged twice. ", 20)}}}
	var answers []string
	for q := range questions {
		question := prism.Question{Key: fmt.Sprintf("question_%d", q), Type: prism.Choice, Text: strings.Repeat("Which team? ", 10)}
		var ps []string
		for o := range 8 {
			key := fmt.Sprintf("option_%d", o)
			question.Options = append(question.Options, prism.Option{Key: key, Label: key, Description: strings.Repeat("payments, ", 14)})
			ps = append(ps, fmt.Sprintf("%q:%v", key, 0.125))
		}
		a.Definition.Questions = append(a.Definition.Questions, question)
		answers = append(answers, fmt.Sprintf(`%q:{"choice":"option_0","confidence":0.123,"probabilities":{%s},"type":"choice"}`,
			question.Key, strings.Join(ps, ",")))
	}
	return a, `{"id":"decision-1","model":"m","answers":{` + strings.Join(answers, ",") + `},"usage":{"input_tokens":142,"output_tokens":3}}`
}

// respond serves one response to all requests, with as little work as possible.
func respond(b *testing.B, body string) (baseURL string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	response := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for r := bufio.NewReaderSize(conn, 64<<10); ; {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					_, _ = conn.Write(response)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}
