package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// stored are results with one prism for each account.
type stored struct {
	contract.Results
	accounts map[contract.KeyDigest]prism.AccountID
	limits   []contract.AccountLimits
	lookUps  *atomic.Int64 // of keys; nil counts none
}

func (s stored) Account(_ context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	if s.lookUps != nil {
		s.lookUps.Add(1)
	}
	account, known := s.accounts[key]
	if !known {
		return account, apierr.InvalidAPIKey()
	}
	return account, nil
}

func (s stored) Limits(context.Context) ([]contract.AccountLimits, error) { return s.limits, nil }

func (s stored) CreateFacts(_ context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	version := &prism.Version{Number: 1}
	version.Fields = []prism.Field{{Key: "text"}}
	return contract.CreateFacts{
		Account: s.accounts[q.Key], Prism: prism.PrismID{UUID: s.accounts[q.Key].UUID}, Version: version,
	}, nil
}

func (stored) Save(context.Context, contract.Save) (contract.Response, error) {
	return contract.Response{ContentType: "text/plain", Body: []byte("saved")}, nil
}

func (stored) Do(context.Context, contract.KeyDigest, api.Operation, any) (contract.Response, error) {
	return contract.Response{ContentType: "text/plain", Body: []byte("read")}, nil
}

// models hold the calls with the text "hang" until release.
type models struct {
	contract.Models
	asked, release chan struct{}
}

func (m models) Ask(_ context.Context, a contract.Ask) (contract.Outcome, error) {
	if a.Fields[0].Value == "hang" {
		m.asked <- struct{}{}
		<-m.release
	}
	return contract.Outcome{Answers: []byte("[]")}, nil
}

// One account whose calls hang takes no place from another.
//
// spec: fair-shares
func TestHangingCreatesOfOneAccountLeaveRoomForAnother(t *testing.T) {
	t.Parallel()
	const bound = 200
	first, second := newKey(t), newKey(t)
	account := func(b byte) prism.AccountID { return prism.AccountID{UUID: prism.UUID{15: b}} }
	results := stored{accounts: map[contract.KeyDigest]prism.AccountID{first.Digest(): account(1), second.Digest(): account(2)}}
	model := models{asked: make(chan struct{}, 2*bound), release: make(chan struct{})}
	call := serve(t, httpkit.Config{MaxInFlight: bound}, results, model)
	create := func(key apikey.Key, text string) int {
		return call(key.Reveal(), "POST", "/v1/prisms/p/results", `{"text":"`+text+`"}`).status
	}
	read := func(key apikey.Key) int {
		return call(key.Reveal(), "GET", "/v1/results/00000000-0000-4000-8000-000000000001", "").status
	}

	// As many calls as there are places: all but the reserve of reads hang. The key is not known when the first calls come.
	var hanging sync.WaitGroup
	var refused atomic.Int64
	for range bound {
		hanging.Go(func() {
			switch status := create(first, "hang"); status {
			case 200:
			case 503:
				refused.Add(1)
				model.asked <- struct{}{} // this call does not hang
			default:
				t.Errorf("a hanging call ended with %d", status)
				model.asked <- struct{}{}
			}
		})
	}
	for range bound {
		<-model.asked
	}
	if n := refused.Load(); n != bound/10 {
		t.Errorf("%d calls were refused, want those for the reserve", n)
	}
	for name, c := range map[string]struct{ got, want int }{
		"another create of the account":  {create(first, "quick"), 503},
		"a read of the account":          {read(first), 200},
		"a create of another account":    {create(second, "quick"), 200},
		"its next, now that it is known": {create(second, "quick"), 200},
		"a read of another account":      {read(second), 200},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %d, want %d", name, c.got, c.want)
		}
	}
	close(model.release)
	hanging.Wait()
}
