package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results"
)

// awaitBudget bounds each wait, on a machine that does much else.
const awaitBudget = 5 * time.Minute

// account is an account that a test reads and works with, as its owner.
type account struct {
	t *testing.T
	*results.Service
	key contract.KeyDigest
}

// readAccount opens a store, and makes an owner's key of an account of it.
func readAccount(t *testing.T, cfg results.Config, name string) account {
	t.Helper()
	s, err := results.Open(t.Context(), cfg, results.Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	id, err := s.Operator().Account(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Operator().CreateKey(t.Context(), id, "test", prism.Owner)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := apikey.Parse(text)
	return account{t, s, key.Digest()}
}

// readAs makes a call and decodes its response.
func readAs[Body, In, Out any](a account, op api.Op[In, Out], in In) (body Body) {
	a.t.Helper()
	r, err := contract.Do(a.t.Context(), a, a.key, op, in)
	if err == nil {
		err = json.Unmarshal(r.Body, &body)
	}
	if err != nil {
		a.t.Fatalf("%s: %v", op.Name, err)
	}
	return body
}

func ofPrism(slug string) api.PrismRequest { return api.PrismRequest{Prism: prism.Ref{Slug: slug}} }

func ofVersion(slug string, version int32) api.VersionRequest {
	return api.VersionRequest{PrismRequest: ofPrism(slug), Version: version}
}

// working has files read, rows answered and answers counted while fn goes on.
func (a account) working(c *composed, fn func()) {
	a.t.Helper()
	ctx, stop := context.WithCancel(a.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.work(ctx) }()
	defer func() { stop(); <-done }()
	fn()
}

// await waits until something has happened.
func (a account) await(what string, happened func() bool) {
	a.t.Helper()
	tick, late := time.NewTicker(20*time.Millisecond), time.NewTimer(awaitBudget)
	defer tick.Stop()
	defer late.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-late.C:
			a.t.Fatalf("%s took longer than %s", what, awaitBudget)
		}
	}
}

// upload uploads a file of csv, and waits until it is read.
func (a account) upload(content []byte) prism.FileID {
	a.t.Helper()
	file := readAs[struct{ ID prism.FileID }](a, api.CreateFile, api.CreateFileRequest{NewFile: api.NewFile{
		Name: "questions.csv", Format: prism.FileCSV, Bytes: int64(len(content)),
	}}).ID
	if _, err := a.PutPart(a.t.Context(), a.key, contract.FilePart{File: file, Number: 1, Data: content}); err != nil {
		a.t.Fatal(err)
	}
	readAs[api.File](a, api.CompleteFile, api.FileRequest{File: file})
	a.await("reading a file", func() bool {
		return readAs[api.File](a, api.ReadFile, api.FileRequest{File: file}).Status == prism.FileReady
	})
	return file
}

// run runs a file, and waits until each row has its answer.
func (a account) run(slug string, n api.NewRun) {
	a.t.Helper()
	id := readAs[struct{ ID prism.RunID }](a, api.CreateRun, api.CreateRunRequest{PrismRequest: ofPrism(slug), NewRun: n}).ID
	a.await("a run", func() bool {
		r := readAs[api.Run](a, api.ReadRun, api.RunRequest{Run: id})
		return r.Status == prism.RunFinished && r.OK == r.Rows
	})
}
