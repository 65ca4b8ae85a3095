package gateway

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// stored are results with one prism for each account.
type stored struct {
	contract.Results
	accounts map[contract.KeyDigest]prism.AccountID
}

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

func (stored) Read(context.Context, contract.KeyDigest, prism.ResultID, contract.Format) (contract.Response, error) {
	return contract.Response{ContentType: "text/plain", Body: []byte("read")}, nil
}

// models hold the calls with the text "hang" until release.
type models struct{ asked, release chan struct{} }

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
	key := func() apikey.Key {
		k, err := apikey.New(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first, second := key(), key()
	account := func(b byte) prism.AccountID { return prism.AccountID{UUID: prism.UUID{15: b}} }
	results := stored{accounts: map[contract.KeyDigest]prism.AccountID{first.Digest(): account(1), second.Digest(): account(2)}}
	model := models{asked: make(chan struct{}, 2*bound), release: make(chan struct{})}
	server := httpkit.New(httpkit.Config{Name: "test", MaxInFlight: bound}, httpkit.Deps{})
	g, err := New(Config{}, Deps{
		Results: results, Models: model, Server: server, Metrics: prometheus.NewRegistry(),
		Log: slog.New(slog.DiscardHandler), Tracer: noop.NewTracerProvider(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, ln) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	call := func(key apikey.Key, method, path, body string) int {
		req, err := http.NewRequest(method, "http://"+ln.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		req.Header.Set("Authorization", "Bearer "+key.Reveal())
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return res.StatusCode
	}
	create := func(key apikey.Key, text string) int {
		return call(key, "POST", "/v1/prisms/p/results", `{"text":"`+text+`"}`)
	}
	read := func(key apikey.Key) int {
		return call(key, "GET", "/v1/results/00000000-0000-4000-8000-000000000001", "")
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
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
