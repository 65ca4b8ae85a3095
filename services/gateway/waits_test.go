package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// waits is results that records how long its caller waits.
type waits struct {
	contract.Results
	last time.Duration
	run  api.NewRun // of LabelsRun
}

func (w *waits) note(ctx context.Context) (contract.Response, error) {
	deadline, _ := ctx.Deadline()
	w.last = time.Until(deadline)
	return contract.Response{}, nil
}

func (*waits) Account(context.Context, contract.KeyDigest) (prism.AccountID, error) {
	return prism.AccountID{UUID: prism.UUID{1}}, nil
}

func (*waits) Limits(context.Context) ([]contract.AccountLimits, error) { return nil, nil }

func (w *waits) LabelsRun(ctx context.Context, _ contract.KeyDigest, _ prism.Ref, n api.NewRun) (api.NewRun, error) {
	_, _ = w.note(ctx)
	w.run = n
	return n, contract.ErrUnavailable
}

func (w *waits) Do(ctx context.Context, _ contract.KeyDigest, _ api.Operation, _ any) (contract.Response, error) {
	return w.note(ctx)
}

// spec: quality, calibration-create, examples-from-labels, retry-many-time, run-from-labels, run-from-results
func TestACallThatReadsMuchHasItsTime(t *testing.T) {
	t.Parallel()
	results := &waits{}
	call, key := serve(t, httpkit.Config{}, results, nil), newKey(t).Reveal()
	for _, row := range []struct {
		method, path, body string
		want               time.Duration
	}{
		{"GET", "/v1/results", "", 1750 * time.Millisecond},
		{"GET", "/v1/prisms", "", 1750 * time.Millisecond},
		{"GET", "/v1/prisms/p/label-queue?question=q", "", 10 * time.Second},
		{"GET", "/v1/prisms/p/versions/1/quality", "", 10 * time.Second},
		{"GET", "/v1/prisms/p/versions/1/quality/thresholds?question=q&false_yes=1&false_no=1&unsure=1", "", 10 * time.Second},
		{"GET", "/v1/prisms/p/compare?a=1&b=2&question=q", "", 10 * time.Second},
		{"POST", "/v1/prisms/p/versions/1/calibrations", `{"question":"q","method":"auto"}`, 10 * time.Second},
		{"POST", "/v1/prisms/p/versions", `{"fields":[{"key":"f"}],"questions":[{"key":"q","type":"yes_no","text":"?"}],` +
			`"examples_from_labels":{"question":"q","n":1}}`, 10 * time.Second},
		{"POST", "/v1/prisms/p/runs", `{"from_labels_of":1,"version":2}`, 15 * time.Second},
		{"POST", "/v1/prisms/p/runs", `{"from_labels_of":1,"version":2,"dry_run":true}`, 15 * time.Second},
		{"POST", "/v1/prisms/p/runs", `{"from_results":{"q":"a"}}`, 15 * time.Second},
		{"POST", "/v1/results/retry", `{"prism":"p","status":"failed","expect":1}`, 10 * time.Second},
	} {
		results.last = 0
		call(key, row.method, row.path, row.body)
		if results.last > row.want || results.last < row.want/2 {
			t.Errorf("%s %s waits %v, want %v", row.method, row.path, results.last, row.want)
		}
	}
}

// spec: run-from-labels, run-dry-run
func TestADryRunFromLabelsFindsNoRunOfItsKey(t *testing.T) {
	t.Parallel()
	results := &waits{}
	call, key := serve(t, httpkit.Config{}, results, nil), newKey(t).Reveal()
	for body, want := range map[string]string{
		`{"from_labels_of":1,"idempotency_key":"k"}`: "k", `{"from_labels_of":1,"idempotency_key":"k","dry_run":true}`: "",
	} {
		call(key, "POST", "/v1/prisms/p/runs", body)
		if results.run.IdempotencyKey != want || results.run.FromLabelsOf != 1 {
			t.Errorf("%s: the run is %+v, want the key %q", body, results.run, want)
		}
	}
}
