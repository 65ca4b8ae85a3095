package wire

import (
	"context"
	"log/slog"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of runs and leases.
const (
	pathPlanRun        = "/internal/plan-run"
	pathPlanRows       = "/internal/plan-rows"
	pathLabelsRun      = "/internal/labels-run"
	pathDropLabelsFile = "/internal/drop-labels-file"
	pathLeaseChunk     = "/internal/lease-chunk"
	pathRenewLeases    = "/internal/renew-leases"
	pathSaveRows       = "/internal/save-rows"
)

// The arguments of the methods of runs and leases.
type (
	argsFile struct {
		Key contract.KeyDigest
		ID  prism.FileID
	}
	argsNewRun struct {
		Key contract.KeyDigest
		Ref prism.Ref
		Run api.NewRun
	}
	argsLease struct {
		Worker prism.UUID
	}
	argsLeases struct{ Leases []contract.Lease }
)

// Texts that rows repeat travel once. The context of a run is often one text for all its rows: 200 rows with the longest context would
// have 80 MB. A cell may be the value of every field of its row: a cell of 1 MiB would travel 50 times.
type (
	row struct {
		contract.ChunkRow
		Repeats map[int]int `json:",omitzero"` // from a field to the first one with its value; its own is empty here
	}
	rows struct {
		Rows    []row
		Context string `json:",omitzero"` // of every row, if it is not empty
	}
	chunk struct {
		contract.Chunk
		Rows    []row
		Context string `json:",omitzero"`
	}
	saveRows struct {
		contract.SaveRows
		Context string `json:",omitzero"`
	}
)

// packed is rows as they travel. The caller's rows stay as they are.
func packed(list []contract.ChunkRow) rows {
	p := rows{Rows: make([]row, len(list))}
	same := len(list) > 0
	for i, r := range list {
		p.Rows[i] = packedRow(r)
		same = same && r.Context == list[0].Context
	}
	if same {
		p.Context = list[0].Context
		for i := range p.Rows {
			p.Rows[i].Context = ""
		}
	}
	return p
}

func packedRow(r contract.ChunkRow) row {
	p := row{ChunkRow: r}
	for i, f := range r.Fields {
		first := slices.IndexFunc(r.Fields, func(other prism.FieldValue) bool { return other.Value == f.Value })
		if first == i || f.Value == "" {
			continue
		}
		if p.Repeats == nil {
			p.Repeats, p.Fields = map[int]int{}, slices.Clone(r.Fields)
		}
		p.Repeats[i], p.Fields[i].Value = first, ""
	}
	return p
}

// unpacked is the rows that were packed.
func (p rows) unpacked() []contract.ChunkRow {
	list := make([]contract.ChunkRow, len(p.Rows))
	for i, r := range p.Rows {
		for field, first := range r.Repeats {
			r.Fields[field].Value = r.Fields[first].Value
		}
		if p.Context != "" {
			r.Context = p.Context
		}
		list[i] = r.ChunkRow
	}
	return list
}

// packedSave is packed for results.
func packedSave(s contract.SaveRows) saveRows {
	p := saveRows{SaveRows: s}
	p.Rows = slices.Clone(s.Rows)
	for i, row := range p.Rows {
		if row.Save == nil {
			continue
		}
		if p.Context == "" {
			p.Context = row.Save.Context
		}
		if row.Save.Context == "" || row.Save.Context != p.Context {
			return saveRows{SaveRows: s}
		}
		save := *row.Save
		save.Context = ""
		p.Rows[i].Save = &save
	}
	return p
}

// unpacked is the results that were packed.
func (p saveRows) unpacked() contract.SaveRows {
	for _, row := range p.Rows {
		if row.Save != nil && p.Context != "" {
			row.Save.Context = p.Context
		}
	}
	return p.SaveRows
}

func (r *results) PlanRun(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun) (contract.RunPlan, error) {
	return decode[contract.RunPlan](r.lookUp(ctx, pathPlanRun, argsNewRun{key, ref, n}))
}

func (r *results) PlanRows(ctx context.Context, key contract.KeyDigest, q contract.PlanRows) ([]contract.ChunkRow, error) {
	found, err := decode[rows](r.lookUp(ctx, pathPlanRows, argsQuery[contract.PlanRows]{key, q}))
	return found.unpacked(), err
}

func (r *results) LabelsRun(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun,
) (api.NewRun, error) {
	return decode[api.NewRun](r.call(ctx, pathLabelsRun, argsNewRun{key, ref, n}))
}

func (r *results) DropLabelsFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return r.call(ctx, pathDropLabelsFile, argsFile{key, id})
}

func (r *results) LeaseChunk(ctx context.Context, worker prism.UUID) (*contract.Chunk, error) {
	found, err := decode[*chunk](r.call(ctx, pathLeaseChunk, argsLease{worker}))
	if err != nil || found == nil {
		return nil, err
	}
	found.Chunk.Rows = rows{found.Rows, found.Context}.unpacked()
	return &found.Chunk, nil
}

func (r *results) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	return decode[[]contract.LeaseState](r.call(ctx, pathRenewLeases, argsLeases{leases}))
}

func (r *results) SaveRows(ctx context.Context, s contract.SaveRows) error {
	_, err := r.call(ctx, pathSaveRows, new(packedSave(s)))
	return err
}

func mountRuns(app *fiber.App, r contract.Runs, log *slog.Logger) {
	postJSON(app, log, pathLabelsRun, func(ctx context.Context, a argsNewRun) (api.NewRun, error) {
		return r.LabelsRun(ctx, a.Key, a.Ref, a.Run)
	})
	post(app, log, pathDropLabelsFile, func(ctx context.Context, a argsFile) (contract.Response, error) {
		return r.DropLabelsFile(ctx, a.Key, a.ID)
	})
	findJSON(app, log, pathPlanRun, func(ctx context.Context, a argsNewRun) (contract.RunPlan, error) {
		return r.PlanRun(ctx, a.Key, a.Ref, a.Run)
	})
	findJSON(app, log, pathPlanRows, func(ctx context.Context, a argsQuery[contract.PlanRows]) (rows, error) {
		list, err := r.PlanRows(ctx, a.Key, a.Query)
		return packed(list), err
	})
}

func mountLeases(app *fiber.App, l contract.Leases, log *slog.Logger) {
	postJSON(app, log, pathLeaseChunk, func(ctx context.Context, a argsLease) (*chunk, error) {
		leased, err := l.LeaseChunk(ctx, a.Worker)
		if err != nil || leased == nil {
			return nil, err
		}
		p := packed(leased.Rows)
		return &chunk{*leased, p.Rows, p.Context}, nil
	})
	postJSON(app, log, pathRenewLeases, func(ctx context.Context, a argsLeases) ([]contract.LeaseState, error) {
		return l.RenewLeases(ctx, a.Leases)
	})
	postJSON(app, log, pathSaveRows, func(ctx context.Context, a saveRows) (struct{}, error) {
		return struct{}{}, l.SaveRows(ctx, a.unpacked())
	})
}
