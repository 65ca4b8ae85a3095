package execute_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
)

// fakeResults keeps results in memory and decides races as the constraints of the store do.
type fakeResults struct {
	contract.Results // the other methods are not called

	mu         sync.Mutex
	account    prism.AccountID
	prisms     map[string]prism.PrismID
	byKey      map[string]prism.ResultID
	results    map[prism.ResultID]*contract.Save
	retried    map[prism.ResultID]prism.ResultID
	lookUps    int
	saves      int
	saveErrs   []error // returned by the first saves, one each
	hangs      bool    // look-ups do not return
	revoked    bool    // the API key is revoked
	unwritable bool    // nothing can be saved
	tries      []contract.Try
	tryErrs    []error // returned by the first ends of tries, one each
}

func newFakeResults() *fakeResults {
	return &fakeResults{
		account: prism.AccountID{UUID: prism.UUID{1}},
		prisms:  map[string]prism.PrismID{"a": {UUID: prism.UUID{2}}, "b": {UUID: prism.UUID{3}}},
		byKey:   map[string]prism.ResultID{},
		results: map[prism.ResultID]*contract.Save{},
		retried: map[prism.ResultID]prism.ResultID{},
	}
}

var version = prism.Version{
	Number: 1,
	Definition: prism.Definition{
		Fields:    []prism.Field{{Key: "text"}},
		Questions: []prism.Question{{Key: "q", Type: prism.YesNo, Text: "Is it?"}},
	},
}

func (f *fakeResults) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	if f.hangs {
		<-ctx.Done()
		return contract.CreateFacts{}, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookUps++
	if f.revoked {
		return contract.CreateFacts{}, nil
	}
	facts := contract.CreateFacts{Account: f.account, Prism: f.prisms[q.Prism.Slug], Version: &version, At: time.Now()}
	if id, ok := f.byKey[q.IdempotencyKey]; ok && q.IdempotencyKey != "" {
		facts.Stored = f.stored(id)
		if facts.Stored.Status == prism.OK {
			response := responseOf(f.results[id])
			facts.Response = &response
		}
	}
	return facts, nil
}

func (f *fakeResults) RetryFacts(_ context.Context, _ contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return contract.RetryFacts{Account: f.account, Stored: f.stored(id), At: time.Now()}, nil
}

func (f *fakeResults) stored(id prism.ResultID) *contract.Stored {
	r, ok := f.results[id]
	if !ok {
		return nil
	}
	s := &contract.Stored{
		ID: id, Prism: r.Prism, Status: prism.OK, IdempotencyKey: r.IdempotencyKey,
		Input: contract.Input{Version: version, Ref: r.Ref, Context: r.Context, Fields: r.Fields},
	}
	if r.Outcome.Failed() {
		s.Status = prism.Failed
	}
	if by, ok := f.retried[id]; ok {
		s.RetriedBy = &by
	}
	return s
}

func (f *fakeResults) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saves++
	if len(f.saveErrs) > 0 {
		err := f.saveErrs[0]
		f.saveErrs = f.saveErrs[1:]
		if errors.Is(err, errLostResponse) {
			_, _ = f.commit(s)
		}
		if err != nil {
			return contract.Response{}, err
		}
	}
	if ctx.Err() != nil {
		return contract.Response{}, ctx.Err()
	}
	return f.commit(s)
}

// errLostResponse is the error of a save that was committed.
var errLostResponse = errors.New("lost response")

func (f *fakeResults) commit(s contract.Save) (contract.Response, error) {
	if r, ok := f.results[s.ID]; ok {
		return responseOf(r), nil
	}
	if s.RetryOf != nil {
		if by, ok := f.retried[*s.RetryOf]; ok {
			return contract.Response{}, &contract.RetriedError{By: by}
		}
		old, ok := f.results[*s.RetryOf]
		switch {
		case ok:
			s.IdempotencyKey, old.IdempotencyKey = old.IdempotencyKey, ""
			f.retried[*s.RetryOf] = s.ID
		case s.IdempotencyKey == "":
			return contract.Response{}, apierr.ResultNotFound()
		}
	} else if _, taken := f.byKey[s.IdempotencyKey]; taken {
		return contract.Response{}, contract.ErrKeyTaken
	}
	if s.IdempotencyKey != "" {
		f.byKey[s.IdempotencyKey] = s.ID
	}
	f.results[s.ID] = &s
	return responseOf(&s), nil
}

// delete deletes a result.
func (f *fakeResults) delete(id prism.ResultID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byKey, f.results[id].IdempotencyKey)
	delete(f.results, id)
}

func responseOf(s *contract.Save) contract.Response {
	return contract.Response{Body: []byte(s.ID.String()), Failed: s.Outcome.Failed()}
}

func (f *fakeResults) count() (results, saves int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.results), f.saves
}

// modelFunc is a model.
type modelFunc func(context.Context, contract.Ask) (contract.Outcome, error)

func (m modelFunc) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	return m(ctx, a)
}

func (modelFunc) States(context.Context) ([]api.ModelState, error) { return nil, nil }

// Check implements contract.Models: of the models, it knows fast.
func (m modelFunc) Check(ctx context.Context, name string) (contract.ModelCheck, error) {
	if name != "fast" {
		return contract.ModelCheck{}, apierr.ModelNotFound()
	}
	outcome, err := m(ctx, contract.Ask{Definition: version.Definition})
	found := api.ModelCheck{Name: name, OK: !outcome.Failed(), Checks: []api.CheckedPart{{Part: api.PartReached, Status: api.PartOK, Text: "the host answers"}}}
	return contract.ModelCheck{Found: found, Definition: version.Definition, Outcome: outcome}, err
}

func (modelFunc) List(context.Context) ([]api.Model, error) { return nil, nil }

// anySize is a size estimate that lets everything pass.
type anySize struct{}

func (s anySize) SizerForCall(context.Context) checks.Sizer { return s }

func (anySize) Check(prism.Definition, []prism.FieldValue, string) error { return nil }
