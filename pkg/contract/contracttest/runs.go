package contracttest

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (r *results) PutPart(_ context.Context, key contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	return r.hear("PutPart", key, p)
}

func (r *results) PlanRun(_ context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun) (contract.RunPlan, error) {
	_, err := r.hear("PlanRun", key, ref, n)
	return r.plan, err
}

func (r *results) PlanRows(_ context.Context, key contract.KeyDigest, q contract.PlanRows) ([]contract.ChunkRow, error) {
	_, err := r.hear("PlanRows", key, q)
	return r.rows, err
}

func (r *results) LabelsRun(
	_ context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun,
) (api.NewRun, error) {
	_, err := r.hear("LabelsRun", key, ref, n)
	return n, err
}

func (r *results) DropLabelsFile(_ context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return r.hear("DropLabelsFile", key, id)
}

func (r *results) LeaseChunk(_ context.Context, worker prism.UUID) (*contract.Chunk, error) {
	_, err := r.hear("LeaseChunk", worker)
	return r.chunk, err
}

func (r *results) RenewLeases(_ context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	_, err := r.hear("RenewLeases", leases)
	return r.states, err
}

func (r *results) SaveRows(_ context.Context, s contract.SaveRows) error {
	_, err := r.hear("SaveRows", s)
	return err
}

var (
	fileID = prism.FileID{UUID: prism.UUID{0xf1, 15: 6}}
	runID  = prism.RunID{UUID: prism.UUID{0xf2, 15: 7}}
	aRun   = api.NewRun{
		File: fileID, Fields: []api.FieldColumn{{Field: "z", Column: odd}, {Field: "a", Column: "b"}}, Ref: odd, Context: odd, Version: 3,
		Labels: []api.FieldColumn{{Field: "z", Column: odd}}, Name: odd, PauseAt: new(0.0), IdempotencyKey: odd,
		RunLimits: api.RunLimits{RowsPerSecond: new(0.5), Concurrency: new(10_000)},
	}
	// repeating are the fields of a row that has two values, each twice, and two empty ones.
	repeating = []prism.FieldValue{
		{Key: "a", Value: odd}, {Key: "b", Value: "x"}, {Key: "c"}, {Key: "d", Value: odd}, {Key: "e"}, {Key: "f", Value: "x"},
	}
	aLease = contract.Lease{Account: account, Run: runID, Chunk: 2, Token: prism.UUID{9}}
)

// filesAndRuns are calls that return a finished response.
func filesAndRuns() []called {
	return []called{
		{"PutPart", []any{digest, contract.FilePart{File: fileID, Number: 5120, Data: []byte("\x00\xff\r\n\"")}}},
		{"PutPart", []any{digest, contract.FilePart{File: fileID, Number: 1, Data: bytes.Repeat([]byte{0, 0xff}, contract.PartBytes/2)}}},
	}
}

// plansAndLeases hold what else of runs and leases arrives whole.
func plansAndLeases(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	far := &results{doc: aResponse}
	near := connect(t, far)
	heardOf := func(method string, args ...any) {
		t.Helper()
		if want := (heard{method, args}); !reflect.DeepEqual(far.heard, want) {
			t.Errorf("heard %+v\nwant  %+v", far.heard, want)
		}
	}
	far.plan = contract.RunPlan{Account: account, Prism: prismID, Version: prism.Version{Number: 3, Definition: definition}, Run: aRun, Rows: 7, Chunks: 2}
	plan, err := near.PlanRun(patience(t), digest, bySlug, aRun)
	if err != nil || !reflect.DeepEqual(plan, far.plan) {
		t.Errorf("got %+v, %v", plan, err)
	}
	heardOf("PlanRun", digest, bySlug, aRun)
	at := time.UnixMilli(1_800_000_000_000).UTC()
	for _, n := range []api.NewRun{
		{Fields: []api.FieldColumn{}, FromLabelsOf: 1, Version: 2, Name: odd},
		{Fields: []api.FieldColumn{}, FromResults: &api.ResultsOfRun{
			IDs: []prism.ResultID{resultID}, Status: prism.OK, Version: 3, From: &at, To: &at,
			SearchMembers: api.SearchMembers{Q: odd, Where: []string{odd}},
		}},
	} {
		made, err := near.LabelsRun(patience(t), digest, bySlug, n)
		if err != nil || !reflect.DeepEqual(made, n) {
			t.Errorf("got %+v, %v", made, err)
		}
		heardOf("LabelsRun", digest, bySlug, n)
	}
	if _, err := near.DropLabelsFile(patience(t), digest, fileID); err != nil {
		t.Error(err)
	}
	heardOf("DropLabelsFile", digest, fileID)

	labels := contract.RowLabels{Labels: []contract.RowLabel{{Question: odd, Value: odd}}, InvalidLabels: []string{odd}}
	differing := []contract.ChunkRow{
		{Row: 1, ID: resultID, RetryOf: &otherID, Fields: fields, Ref: &odd, Context: odd, RowLabels: labels}, {Row: 10_000_000, Fields: fields, Ref: new(string)},
	}
	same := []contract.ChunkRow{{Row: 1, Fields: fields, Context: odd}, {Row: 2, Fields: fields, Context: odd}}
	repeated := []contract.ChunkRow{{Row: 1, Fields: repeating}, {Row: 2, Fields: fields}}
	for _, far.rows = range [][]contract.ChunkRow{differing, same, repeated, {{Row: 1, Fields: fields}, {Row: 2, Fields: fields, Context: odd}}, {}} {
		q := contract.PlanRows{Prism: byID, Run: aRun, Chunk: 49_999}
		got, err := near.PlanRows(patience(t), digest, q)
		if err != nil || len(got) != len(far.rows) || len(got) > 0 && !reflect.DeepEqual(got, far.rows) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, far.rows)
		}
		heardOf("PlanRows", digest, q)

		leased := contract.Chunk{
			Lease: aLease, RowLimits: contract.RowLimits{RowsPerSecond: 0.5, Concurrency: 3}, Rows: far.rows,
			Facts: contract.RowFacts{Account: account, Key: keyID, Prism: prismID, Archived: true, Version: prism.Version{Number: 3, Definition: definition}},
		}
		far.chunk = &leased
		took, err := near.LeaseChunk(patience(t), prism.UUID{8})
		if err != nil || took == nil || len(took.Rows) != len(got) {
			t.Fatalf("got %+v, %v", took, err)
		}
		if len(got) > 0 && !reflect.DeepEqual(*took, leased) {
			t.Errorf("got  %+v\nwant %+v", *took, leased)
		}
		heardOf("LeaseChunk", prism.UUID{8})
	}
	far.chunk = nil
	if took, err := near.LeaseChunk(patience(t), prism.UUID{}); err != nil || took != nil {
		t.Errorf("got %+v, %v", took, err)
	}
	far.states = []contract.LeaseState{{Lease: aLease, Stop: true}, {Lease: aLease, RowLimits: contract.RowLimits{Concurrency: 1}}}
	states, err := near.RenewLeases(patience(t), []contract.Lease{aLease})
	if err != nil || !reflect.DeepEqual(states, far.states) {
		t.Errorf("got %+v, %v", states, err)
	}
	heardOf("RenewLeases", []contract.Lease{aLease})

	saving := func(context string) *contract.Save {
		return &contract.Save{Account: account, ID: resultID, Prism: prismID, Version: 3, Ref: &odd, Context: context, Fields: fields}
	}
	for _, s := range []contract.SaveRows{
		{Lease: aLease, Rows: []contract.RowOutcome{}, Done: true},
		{Lease: aLease, Rows: []contract.RowOutcome{{Row: 1, Invalid: odd}, {Row: 2, Save: saving(odd), RowLabels: labels}, {Row: 3, Save: saving(odd)}}},
		{Lease: aLease, Rows: []contract.RowOutcome{{Row: 1, Save: saving("")}, {Row: 2, Save: saving(odd)}}, Done: true},
		{Lease: aLease, Rows: []contract.RowOutcome{{Row: 1, Save: saving(odd)}, {Row: 2, Save: saving("")}, {Row: 3, Save: saving("x")}}},
		{Lease: aLease, Rows: []contract.RowOutcome{{Row: 1, Save: saving(strings.Repeat("x", contract.SaveBytes))}}},
	} {
		if err := near.SaveRows(patience(t), s); err != nil {
			t.Error(err)
		}
		heardOf("SaveRows", s)
	}
}

// failuresOfRuns hold that errors of runs and leases keep their type.
func failuresOfRuns(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	far := &results{}
	near := connect(t, far)
	for _, want := range []error{
		contract.ErrLeaseLost, contract.ErrUnavailable, apierr.RunOver(), apierr.PartsMissing([]int32{3, 7}, 14), apierr.RoleNotAllowed(),
	} {
		far.err = want
		_, plan := near.PlanRun(patience(t), digest, bySlug, aRun)
		_, rows := near.PlanRows(patience(t), digest, contract.PlanRows{})
		_, lease := near.LeaseChunk(patience(t), prism.UUID{})
		_, renew := near.RenewLeases(patience(t), nil)
		_, part := near.PutPart(patience(t), digest, contract.FilePart{})
		_, stream := near.Open(patience(t), digest, api.ListRunRows, api.ListRunRows.NewRequest())
		for i, err := range []error{plan, rows, lease, renew, part, stream, near.SaveRows(patience(t), contract.SaveRows{})} {
			if !errors.Is(err, want) {
				t.Errorf("%d: got %v, want %v", i, err, want)
			}
		}
	}
}
