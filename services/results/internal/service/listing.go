package service

import (
	"context"
	"io"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
)

// How many rows an export asks for at first and at most. A page with much input ends early (store.PageBytes), and the next
// one asks for twice as many rows as came, for a database may send all that it was asked for.
const (
	exportFirst = 32
	exportMost  = 500
)

// ListResults implements contract.Results.
func (a *Service) ListResults(ctx context.Context, key contract.KeyDigest, q contract.ResultList) (contract.Response, error) {
	account, err := a.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	page, err := storePage(q.Page)
	if err != nil {
		return contract.Response{}, err
	}
	filter := store.Filter{Status: q.Status, Ref: q.Ref}
	if q.Prism != nil {
		p, err := a.Store.Prism(ctx, account, *q.Prism)
		if err != nil {
			return contract.Response{}, missing(err, apierr.PrismNotFound())
		}
		filter.Prism = p.ID
	}
	rows, err := a.Store.ListResults(ctx, account, filter, page)
	if err != nil {
		return contract.Response{}, public(err)
	}
	body := func(s store.Saved) (strictjson.Value, error) {
		doc, err := a.document(ctx, account, s.Result, s.Prism, contract.JSON)
		return doc.Body, err
	}
	return listDocument(rows, q.Page.Limit, body, func(s store.Saved) contract.Position {
		return contract.Position{At: s.Result.CreatedAt, ID: s.Result.ID.UUID}
	})
}

// Export implements contract.Results.
func (a *Service) Export(ctx context.Context, key contract.KeyDigest, q contract.Export) (contract.Stream, error) {
	account, p, err := a.prism(ctx, key, q.Prism)
	if err != nil {
		return contract.Stream{}, err
	}
	encoder, err := format.NewEncoder(q.Format, format.Table{Slug: p.Slug, Lens: p.Lens, Latest: p.Latest.Definition})
	if err != nil {
		return contract.Stream{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	x := &export{
		a: a, ctx: ctx, cancel: cancel, account: account, prism: p.ID, encoder: encoder,
		filter: store.Filter{Status: q.Status, From: wholeMillisecond(q.From), To: wholeMillisecond(q.To)},
		limit:  exportFirst,
	}
	x.buf = encoder.Header(nil)
	return contract.Stream{ContentType: format.ContentType(q.Format), Body: x}, nil
}

// wholeMillisecond is the first whole millisecond that is not before t. Results are saved at whole ones, so as a bound it
// is the same, and no store has to round.
func wholeMillisecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t
}

// export is a response body that reads the next page of rows when the one before was sent.
type export struct {
	a       *Service
	ctx     context.Context //nolint:containedctx // a reader has no other way to be cancelled
	cancel  context.CancelFunc
	account prism.AccountID
	prism   prism.PrismID
	filter  store.Filter
	encoder format.Encoder
	after   *store.Position
	limit   int
	buf     []byte // what the pages so far hold
	sent    int    // how much of it was read
	ended   bool
}

func (x *export) Read(p []byte) (int, error) {
	for x.sent == len(x.buf) {
		if x.ended {
			return 0, io.EOF
		}
		if err := x.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, x.buf[x.sent:])
	x.sent += n
	return n, nil
}

func (x *export) Close() error {
	x.cancel()
	return nil
}

func (x *export) fill() error {
	x.buf, x.sent = x.buf[:0], 0
	rows, err := x.a.Store.ExportResults(x.ctx, x.account, x.prism, x.filter, store.Page{After: x.after, Limit: x.limit})
	if err != nil {
		return public(err)
	}
	x.ended = len(rows) == 0
	x.limit = min(2*len(rows), exportMost)
	for _, r := range rows {
		answered, err := x.a.version(x.ctx, x.account, r.Prism, r.Version)
		if err != nil {
			return public(err)
		}
		if x.buf, err = x.encoder.Row(x.buf, format.Row{Result: r, Answered: answered.Definition}); err != nil {
			return err
		}
		x.after = &store.Position{At: r.CreatedAt, ID: r.ID.UUID}
	}
	return nil
}
