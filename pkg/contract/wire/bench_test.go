package wire_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

// loaded returns the same version to every look-up.
type loaded struct {
	calm
	version prism.Version
}

func (l loaded) CreateFacts(context.Context, contract.CreateQuery) (contract.CreateFacts, error) {
	version := l.version
	return contract.CreateFacts{Account: prism.AccountID{UUID: prism.UUID{1}}, Prism: prism.PrismID{UUID: prism.UUID{2}}, Version: &version}, nil
}

// realistic is a version of 12 questions with 8 described options each, about 18 KB of JSON.
func realistic() prism.Version {
	v := prism.Version{Number: 1, Definition: prism.Definition{Fields: []prism.Field{{Key: "text"}}}}
	for i := range 12 {
		q := prism.Question{Key: fmt.Sprintf("question_%d", i), Type: prism.Choice, Text: "Which of these describes the text best, all in all?"}
		for j := range 8 {
			q.Options = append(q.Options, prism.Option{
				Key: fmt.Sprintf("option_%d", j), Label: fmt.Sprintf("Option number %d", j),
				Description: "The text says so in words, or it follows from the text without any doubt, and nothing contradicts it at all.",
			})
		}
		v.Questions = append(v.Questions, q)
	}
	v.Hash, _ = contract.HashDefinition(v.Definition)
	return v
}

// BenchmarkCreateCalls makes the look-up and the model call of one create with a realistic definition.
func BenchmarkCreateCalls(b *testing.B) {
	version := realistic()
	results, models := connect(b, loaded{version: version})
	ask := contract.Ask{Fields: []prism.FieldValue{{Key: "text", Value: "Where is my parcel?"}}}
	query := contract.CreateQuery{Prism: prism.Ref{Slug: "tickets"}, Format: contract.JSON}
	b.ReportAllocs()
	for b.Loop() {
		facts, err := results.CreateFacts(b.Context(), query)
		if err != nil {
			b.Fatal(err)
		}
		ask.Definition, ask.Hash = facts.Version.Definition, facts.Version.Hash
		if _, err := models.Ask(b.Context(), ask); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead makes one small call, one at a time and many at once.
func BenchmarkRead(b *testing.B) {
	results, _ := connect(b, loaded{})
	read := func(b *testing.B) {
		if _, err := contract.Do(b.Context(), results, contract.KeyDigest{}, api.ListKeys, api.ListKeysRequest{}); err != nil {
			b.Error(err)
		}
	}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			read(b)
		}
	})
	b.Run("many", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(16)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				read(b)
			}
		})
	})
}

// BenchmarkPutPart carries a part of a file.
func BenchmarkPutPart(b *testing.B) {
	results, _ := connect(b, loaded{})
	part := contract.FilePart{Number: 1, Data: make([]byte, contract.PartBytes)}
	for i := range part.Data {
		part.Data[i] = byte(i * 7)
	}
	b.SetBytes(contract.PartBytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := results.PutPart(b.Context(), contract.KeyDigest{}, part); err != nil {
			b.Fatal(err)
		}
	}
}

// connect serves both interfaces of a service in one process and returns clients of them.
func connect(b *testing.B, s loaded) (wire.Results, wire.Models) {
	b.Helper()
	cfg := wire.ClientConfig{Tokens: tokens(token)}
	cfg.URL = serve(b, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, s, tokens(token), log) })
	results, err := wire.NewResults(cfg, wire.ClientDeps{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(results.Close)
	cfg.URL = serve(b, func(app *fiber.App, log *slog.Logger) { wire.MountModels(app, s, tokens(token), log) })
	models, err := wire.NewModels(cfg, wire.ClientDeps{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(models.Close)
	return results, models
}
