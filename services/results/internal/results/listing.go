package results

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tables"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

func (h *Handlers) listResults(ctx context.Context, c store.Caller, in api.ListResultsRequest) ([]byte, error) {
	if in.Q != "" || len(in.Where) > 0 || in.Sort != "" {
		return h.searchResults(ctx, c, in)
	}
	list, position := contract.ListOfResults, func(saved store.Saved) prism.UUID { return saved.Result.ID.UUID }
	if in.Run != nil { // spec: run-results
		list = contract.ListOfRunResults
		position = func(saved store.Saved) prism.UUID { return contract.RowPosition(saved.RunRow, saved.Result.ID) }
	}
	page, err := bodies.StorePage(list, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	filter, _, err := h.filterOf(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if looksAtEach(filter) {
		if page.Until, err = h.deps.Store.LookedAt(ctx, c.Account, filter, page.After, lookedAt); err != nil {
			return nil, err
		}
	}
	rows, more, err := h.deps.Store.ListResults(ctx, c.Account, filter, store.Input(in.Fields), page)
	if err != nil {
		return nil, err
	}
	body := func(saved store.Saved) (strictjson.Value, error) { return h.listed(ctx, c.Account, in, saved) }
	filled, err := bodies.FillPage(list, rows, more, body, position)
	if err != nil {
		return nil, err
	}
	if filled.Next.IsZero() { // the list goes on behind what was looked at
		filled.Next = page.Until
	}
	return filled.End(""), nil
}

// filterOf is the filter of a list, and its prism if it has one.
func (h *Handlers) filterOf(ctx context.Context, c store.Caller, in api.ListResultsRequest) (f store.Filter, of *prism.Prism, err error) {
	f = bodies.Filter(c, in.Status, in.ResultFilter)
	if in.Prism == nil {
		return f, nil, nil
	}
	p, err := h.deps.Store.Prism(ctx, c.Account, *in.Prism)
	f.Prism = p.ID
	return f, &p, err
}

// listed is a result of a list.
func (h *Handlers) listed(ctx context.Context, account prism.AccountID, in api.ListResultsRequest, saved store.Saved) (strictjson.Value, error) {
	response, err := h.format(ctx, account, saved.Result, saved.Prism, cmp.Or(in.Format, api.JSON))
	if err != nil || !in.Fields {
		return response.Body, err
	}
	return appendSent(response.Body, saved.Result), nil
}

// lookedAt bounds how many results a page looks at (spec: result-list-looks).
const lookedAt = 20_000

// looksAtEach tells whether no index finds the results of a filter: a list of them looks at one result of the account or the prism
// after the other.
func looksAtEach(f store.Filter) bool {
	indexed := f.Run != nil || f.Assignee != nil && !f.Assignee.IsZero() || f.Ref != nil || f.Status == prism.Failed && f.Prism.IsZero()
	return !indexed && (f.Version != 0 || f.Assignee != nil && f.Assignee.IsZero() || f.Model != "" || f.Key != nil || f.Status != "")
}

// Export streams the results of a prism.
func (h *Handlers) Export(ctx context.Context, caller store.Caller, in api.ExportResultsRequest) (contract.Stream, error) {
	x, p, err := h.newExport(ctx, caller, in.Prism, tables.Form{Format: in.Format, TextStyle: in.TextStyle, Raw: in.Raw})
	if err != nil {
		return contract.Stream{}, err
	}
	x.filter = bodies.Filter(caller, in.Status, in.ResultFilter)
	if in.After != nil {
		x.after = in.After.UUID
	}
	if in.Q != "" || len(in.Where) > 0 {
		filter, err := h.deps.Searches.Narrow(ctx, caller.Account, p, x.filter, in.ResultSearch)
		if err != nil {
			x.cancel()
			return contract.Stream{}, err
		}
		filter.Prism = p.ID
		x.search = &filter
		if in.After != nil {
			x.next = &search.Position{ID: in.After.UUID, Without: true}
		}
		if err := x.find(); err != nil { // problems and what is missing, before the first row
			x.cancel()
			return contract.Stream{}, err
		}
	}
	return contract.Stream{ContentType: tabular.ContentType(prism.RowsFormat(in.Format)), Body: x}, nil
}

// ExportSelected streams some results of a prism.
func (h *Handlers) ExportSelected(ctx context.Context, caller store.Caller, in api.ExportSelectedRequest) (contract.Stream, error) {
	in.Format = cmp.Or(in.Format, api.CSV)
	x, _, err := h.newExport(ctx, caller, in.Prism, tables.Form{Format: in.Format})
	if err != nil {
		return contract.Stream{}, err
	}
	x.search, x.last, x.pending = &search.Filter{}, true, sqldb.SortedIDs(in.IDs)
	return contract.Stream{ContentType: tabular.ContentType(prism.RowsFormat(in.Format)), Body: x}, nil
}

// newExport begins an export of all results of a prism.
func (h *Handlers) newExport(ctx context.Context, caller store.Caller, ref prism.Ref, as tables.Form) (*export, prism.Prism, error) {
	p, err := h.deps.Store.Prism(ctx, caller.Account, ref)
	if err != nil {
		return nil, p, err
	}
	columns, err := strictjson.Marshal(p.Lens)
	if err != nil {
		return nil, p, err
	}
	fair.Identify(ctx, caller.Account.String())
	x := &export{
		handlers: h, account: caller.Account, limit: tables.FirstRows,
		prism: store.PrismState{ID: p.ID, VersionsHash: p.VersionsHash, Lens: string(columns), Pins: p.Pins},
	}
	room := func(held int) bool { return fair.Reserve(ctx, x.size+cap(x.buffer)+held, false) }
	if x.encoder, err = tables.NewEncoder(as, format.Table{Slug: p.Slug, Lens: p.Lens, Latest: p.Latest.Definition}, room); err != nil {
		return nil, p, err
	}
	x.ctx, x.cancel = context.WithCancel(ctx)
	x.buffer = x.encoder.Header(nil)
	return x, p, nil
}

// export is a response body that fetches a page of rows when the page before has been read, and encodes a piece of the page when
// the piece before has been read.
type export struct {
	handlers *Handlers
	ctx      context.Context //nolint:containedctx // a reader has no other way to be cancelled
	cancel   context.CancelFunc
	account  prism.AccountID
	prism    store.PrismState // without what exports do not need
	filter   store.Filter
	search   *search.Filter   // nil: all results of the filter
	pending  []prism.UUID     // by the search, of which no row was fetched
	next     *search.Position // of the search; nil: before its first page or behind its last
	encoder  tables.Encoder
	version  int32        // of the last row
	plan     *format.Plan // of that version
	after    prism.UUID   // id of the last row
	limit    int
	rows     []prism.Result // of the page, to be encoded
	size     int            // of these rows
	buffer   []byte         // encoded rows
	read     int            // how much of buffer was read
	last     bool           // the search has found all
	ended    bool
}

func (x *export) Read(p []byte) (int, error) {
	for x.read == len(x.buffer) {
		if x.ended {
			return 0, io.EOF
		}
		if err := x.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, x.buffer[x.read:])
	x.read += n
	return n, nil
}

func (x *export) Close() error {
	x.cancel()
	return nil
}

// Held is how many bytes of rows are in memory.
func (x *export) HeldBytes() int { return x.size + cap(x.buffer) + tables.HeldBytes(x.encoder) }

// foundAtOnce is how many results an export finds at once.
const foundAtOnce = 1000

// find finds the next results, oldest first.
func (x *export) find() error {
	page, err := x.handlers.deps.Searches.Oldest(x.ctx, x.account, *x.search, x.next, foundAtOnce)
	for _, hit := range page.Hits {
		x.pending = append(x.pending, hit.ID)
	}
	x.next, x.last = page.Next, page.Next == nil
	return err
}

// fetch fetches the next page.
func (x *export) fetch() error {
	if x.search != nil {
		return x.fetchFound()
	}
	page := store.Page{After: x.after, Limit: x.limit}
	rows, err := x.handlers.deps.Store.ExportResults(x.ctx, x.account, x.prism.ID, x.filter, page)
	if err != nil {
		return access.Translate(err, nil)
	}
	x.ended = len(rows) == 0
	x.take(rows)
	return nil
}

// take makes rows those to be encoded.
func (x *export) take(rows []prism.Result) {
	for _, r := range rows {
		x.size += store.Size(r)
		x.after = r.ID.UUID
	}
	x.rows, x.limit = rows, tables.NextPiece(x.limit, len(rows), x.size)
}

// fetchFound fetches the next of the results that were found. Those that were deleted meanwhile have no row.
func (x *export) fetchFound() error {
	for len(x.rows) == 0 {
		if len(x.pending) == 0 {
			if x.ended = x.last; x.ended {
				return nil
			}
			if err := x.find(); err != nil {
				return access.Translate(err, nil)
			}
			continue
		}
		ids := x.pending[:min(len(x.pending), x.limit, sqldb.PartSize)]
		rows, err := x.handlers.deps.Store.ExportResults(x.ctx, x.account, x.prism.ID, store.Filter{IDs: ids}, store.Page{Limit: len(ids)})
		if err != nil {
			return access.Translate(err, nil)
		}
		x.after = ids[len(ids)-1]
		x.take(rows)
		behind := slices.IndexFunc(x.pending, func(id prism.UUID) bool { return sqldb.CompareIDs(id, x.after) > 0 })
		if behind < 0 {
			behind = len(x.pending)
		}
		x.pending = x.pending[behind:]
	}
	return nil
}

// fill encodes rows into the buffer, which was read.
func (x *export) fill() error {
	x.buffer, x.read = x.buffer[:0], 0
	if cap(x.buffer) > store.PageBytes {
		x.buffer = nil // it was for one large row
	}
	if len(x.rows) == 0 {
		if err := x.fetch(); err != nil {
			return err
		}
		if x.ended {
			var err error
			x.buffer, err = x.encoder.End(x.buffer)
			return err
		}
	}
	for len(x.rows) > 0 && len(x.buffer) < tables.PieceBytes {
		r := x.rows[0]
		x.rows[0], x.rows = prism.Result{}, x.rows[1:]
		x.size -= store.Size(r)
		if err := x.prepare(r); err != nil {
			return access.Translate(err, nil)
		}
		var err error
		if x.buffer, err = x.encoder.Row(x.buffer, format.Row{Result: r, Plan: x.plan}); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes plan that of the result's version.
func (x *export) prepare(r prism.Result) error {
	if x.plan != nil && x.version == r.Version {
		return nil
	}
	answered, err := x.handlers.deps.Versions.Version(x.ctx, x.account, prisms.VersionOf(x.prism, r.Version))
	if err != nil {
		return err
	}
	applied, err := x.handlers.deps.Quality.Apply(x.ctx, x.account, answered, x.prism)
	if err != nil {
		return err
	}
	x.version, x.plan = r.Version, applied.Plan
	return nil
}
