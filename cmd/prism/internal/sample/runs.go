package sample

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// pausedAt is how many rows the paused run has answered at least, at so many rows a second that it is not over by then. When it is
// resumed, it goes on slowly enough to be watched.
const (
	pausedAt   = 100
	pausedRate = 100.0
)

// working has files read, rows answered and answers counted while fn goes on.
func (f *filling) working(ctx context.Context, fn func() error) error {
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); f.deps.Work(running) }()
	defer func() { stop(); <-done }()
	return fn()
}

// runLabels has the second version of support answer the labelled messages of the first one.
func (f *filling) runLabels(ctx context.Context) error {
	_, err := f.runUntil(ctx, support, api.NewRun{FromLabelsOf: 1, Name: "Version 2 on the labels of version 1"}, finished)
	if isConflict(err) { // there was no result to label
		return nil
	}
	return err
}

// runFile uploads the bank's questions as a file, answers them in a run, and pauses another run of them. Both are dated before the
// newest calls, so that lists begin with calls.
func (f *filling) runFile(ctx context.Context, start time.Time) error {
	span := f.plan.Until.Sub(start)
	f.deps.Clock.Set(f.plan.Until.Add(-span / 6))
	file, err := f.upload(ctx)
	if err != nil {
		return fmt.Errorf("uploading the file: %w", err)
	}
	n := api.NewRun{
		File: file, Fields: []api.FieldColumn{{Field: "text", Column: "text"}},
		Labels: []api.FieldColumn{{Field: "intent", Column: "category"}}, Name: "Questions of the test set",
	}
	if _, err := f.runUntil(ctx, banking, n, finished); err != nil {
		return fmt.Errorf("running the file: %w", err)
	}
	f.deps.Clock.Set(f.plan.Until.Add(-min(8*time.Hour, span/12)))
	rate := pausedRate
	n.Labels, n.Name, n.RowsPerSecond = nil, "Questions once more", &rate
	paused, err := f.runUntil(ctx, banking, n, func(r run) bool { return r.OK >= pausedAt })
	if err != nil {
		return fmt.Errorf("running the file again: %w", err)
	}
	if _, err := contract.Do(ctx, f.deps.Results, f.owner, api.PauseRun, api.RunRequest{Run: paused}); err != nil {
		return fmt.Errorf("pausing the run: %w", err)
	}
	return f.awaitRun(ctx, paused, func(r run) bool { return r.Status == prism.RunPaused })
}

// run is what Fill looks at of a run.
type run struct {
	Status prism.RunStatus
	OK     int64
}

func finished(r run) bool { return r.Status == prism.RunFinished }

// runUntil starts a run, and waits until it has arrived.
func (f *filling) runUntil(ctx context.Context, slug string, n api.NewRun, arrived func(run) bool) (prism.RunID, error) {
	if n.MakesFile() {
		waiting, cancel := context.WithTimeout(ctx, api.LabelsRunWait)
		defer cancel()
		made, err := f.deps.Results.LabelsRun(waiting, f.owner, prism.Ref{Slug: slug}, n)
		if err != nil {
			return prism.RunID{}, err
		}
		n = made
	}
	made, err := read[struct{ ID prism.RunID }](contract.Do(ctx, f.deps.Results, f.owner, api.CreateRun, api.CreateRunRequest{
		PrismRequest: ofPrism(slug), NewRun: n,
	}))
	if err != nil {
		return made.ID, err
	}
	return made.ID, f.awaitRun(ctx, made.ID, arrived)
}

func (f *filling) awaitRun(ctx context.Context, id prism.RunID, arrived func(run) bool) error {
	return await(ctx, func() (bool, error) {
		r, err := read[run](contract.Do(ctx, f.deps.Results, f.owner, api.ReadRun, api.RunRequest{Run: id}))
		if err != nil || arrived(r) {
			return true, err
		}
		if r.Status.Settled() {
			return false, errors.New("a run of the demo ended as " + string(r.Status))
		}
		return false, nil
	})
}

// upload uploads the bank's questions. The rows of the test set are sorted by intent; they are shuffled, so that the answers do not
// drift from row to row.
func (f *filling) upload(ctx context.Context) (prism.FileID, error) {
	rows, err := csv.NewReader(bytes.NewReader(bankingCSV)).ReadAll()
	if err != nil {
		return prism.FileID{}, err
	}
	questions := rows[1:]
	f.rand.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	var content bytes.Buffer
	if err := csv.NewWriter(&content).WriteAll(rows); err != nil {
		return prism.FileID{}, err
	}
	file, err := read[struct{ ID prism.FileID }](contract.Do(ctx, f.deps.Results, f.owner, api.CreateFile, api.CreateFileRequest{
		NewFile: api.NewFile{Name: "banking77.csv", Format: prism.FileCSV, Bytes: int64(content.Len())},
	}))
	if err == nil {
		_, err = f.deps.Results.PutPart(ctx, f.owner, contract.FilePart{File: file.ID, Number: 1, Data: content.Bytes()})
	}
	if err == nil {
		_, err = contract.Do(ctx, f.deps.Results, f.owner, api.CompleteFile, api.FileRequest{File: file.ID})
	}
	if err != nil {
		return file.ID, err
	}
	return file.ID, await(ctx, func() (bool, error) {
		is, err := read[struct{ Status prism.FileStatus }](contract.Do(ctx, f.deps.Results, f.owner, api.ReadFile, api.FileRequest{File: file.ID}))
		if err == nil && is.Status == prism.FileUnusable {
			err = errors.New("the file of the demo is unusable")
		}
		return is.Status == prism.FileReady, err
	})
}
