package request_test

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

func BenchmarkParseCreate(b *testing.B) {
	for _, c := range []struct{ name, body string }{
		{"typical", `{"fields":{"subject":"Card not arrived","body":"` + repeat("I am still waiting. ", 20) +
			`"},"ref":"ticket-1","idempotency_key":"0b1c","context":"Bank"}`},
		{"escaped 100 kB", `{"text":"` + repeat(`line\n`, 16_000) + `"}`},
		{"plain 100 kB", `{"text":"` + repeat(`line `, 20_000) + `"}`},
		{"read 1 MiB", `{"fields":{` + repeat(`"f":"`+repeat("line ", 20_000)+`",`, 10) + `"g":""}}`},
		{"unread 1 MiB", `{"text":"x","a":[` + repeat("1,", 500_000) + `1]}`},
		{"refused", `{"fields":{"subject":1},"version":0}`},
	} {
		from := request.Source{
			Param: func(string) string { return "triage" }, Query: sentFormats([]string{"json"}), Body: jsonBody(c.body),
		}
		parser := request.NewParser(api.CreateResult)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				_, _ = parser.Parse(from)
			}
		})
	}
}

func BenchmarkParseNewPrism(b *testing.B) {
	body := jsonBody(edit())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsed(api.CreatePrism, request.Source{Body: body}); err != nil {
			b.Fatal(err)
		}
	}
}
