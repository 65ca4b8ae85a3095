package wire_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// calm returns a fixed result from every call, so that only the wire can fail.
type calm struct{}

var (
	_    contract.Results = calm{}
	_    contract.Models  = calm{}
	page                  = contract.Response{ContentType: "application/json", Body: []byte("{}")}
)

// newServer serves both interfaces in memory.
func newServer(testing.TB) *fiber.App {
	log := slog.New(slog.DiscardHandler)
	app := httpkit.New(httpkit.Config{Name: "test", BodyLimit: wire.BodyLimit}, httpkit.Deps{Log: log}).App()
	wire.MountResults(app, calm{}, tokens(token), log)
	wire.MountModels(app, calm{}, tokens(token), log)
	return app
}

func (calm) Ask(context.Context, contract.Ask) (contract.Outcome, error) {
	return contract.Outcome{Error: "It failed."}, nil
}

func (calm) Account(context.Context, contract.KeyDigest) (prism.AccountID, error) {
	return prism.AccountID{}, nil
}

func (calm) States(context.Context) ([]api.ModelState, error) { return nil, nil }

func (calm) Check(context.Context, string) (contract.ModelCheck, error) {
	return contract.ModelCheck{}, nil
}

func (calm) List(context.Context) ([]api.Model, error) { return nil, nil }

func (calm) Authorize(context.Context, contract.KeyDigest, contract.Operation) error { return nil }

func (calm) Limits(context.Context) ([]contract.AccountLimits, error) { return nil, nil }

func (calm) CreateFacts(context.Context, contract.CreateQuery) (contract.CreateFacts, error) {
	return contract.CreateFacts{}, nil
}

func (calm) RetryFacts(context.Context, contract.KeyDigest, prism.ResultID) (contract.RetryFacts, error) {
	return contract.RetryFacts{}, nil
}

func (calm) Save(_ context.Context, s contract.Save) (contract.Response, error) {
	switch {
	case s.RetryOf != nil:
		return contract.Response{}, &contract.RetriedError{By: *s.RetryOf}
	case s.IdempotencyKey != "":
		return contract.Response{}, contract.ErrKeyTaken
	}
	return page, nil
}

func (calm) TryFacts(context.Context, contract.KeyDigest) (contract.TryFacts, error) {
	return contract.TryFacts{}, nil
}

func (calm) FinishTry(context.Context, contract.Try) (contract.Response, error) { return page, nil }

func (calm) Do(_ context.Context, _ contract.KeyDigest, op api.Operation, _ any) (contract.Response, error) {
	if op.Declared().Name == api.ReadRecord.Name {
		return contract.Response{}, contract.ErrUnavailable
	}
	return page, nil
}

func (calm) Open(context.Context, contract.KeyDigest, api.Operation, any) (contract.Stream, error) {
	return contract.Stream{ContentType: "text/csv", Body: io.NopCloser(strings.NewReader("a\r\n"))}, nil
}
