package prisms

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of prisms. They keep the versions that were used last.
type Handlers struct {
	store    Store
	access   *access.Access
	now      func() time.Time
	newID    func() (prism.UUID, error)
	versions *versions
	// take takes examples from labels: see TakeExamplesWith.
	take TakeExamples
}

// TakeExamples takes examples for a version of a prism to be, which has a definition.
type TakeExamples func(
	ctx context.Context, account prism.AccountID, of prism.PrismID, d prism.Definition, from api.ExamplesFromLabels,
) ([]prism.Example, error)

// TakeExamplesWith says what takes examples from labels. It is called before the first operation.
func (s *Handlers) TakeExamplesWith(take TakeExamples) { s.take = take }

// NewHandlers makes Handlers over a store, of a process with so many databases.
func NewHandlers(s Store, a *access.Access, now func() time.Time, newID func() (prism.UUID, error), databases int) *Handlers {
	return &Handlers{store: s, access: a, now: now, newID: newID, versions: newVersions(databases)}
}

// Operations are the operations of prisms.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(s.access, api.CreatePrism, s.createPrism),
		access.Change(s.access, api.CreateVersion, s.createVersion),
		access.Change(s.access, api.ReplaceLens, s.replaceLens),
		access.Encoded(api.ListPrisms, s.listPrisms),
		access.Handle(api.ReadPrism, s.readPrism),
		access.Change(s.access, api.RenamePrism, s.renamePrism),
		access.Encoded(api.ListVersions, s.listVersions),
		access.Handle(api.ReadVersion, s.readVersion),
		access.Change(s.access, api.ArchivePrism, s.archivePrism(true)),
		access.Change(s.access, api.UnarchivePrism, s.archivePrism(false)),
	}
}

// staleTries bounds how often a change is repeated because another change was stored first.
const staleTries = 32

func (s *Handlers) createPrism(ctx context.Context, account prism.AccountID, by store.By, in api.CreatePrismRequest) (api.Prism, error) {
	id, err := s.newID()
	if err != nil {
		return api.Prism{}, err
	}
	p := prism.Prism{
		ID: prism.PrismID{UUID: id}, Slug: in.Slug, Name: in.Name, CreatedAt: by.At, Lens: lensOf(in.NewVersion),
		Unsearchable: in.Searchable != nil && !*in.Searchable,
		Latest:       prism.Version{Number: 1, Definition: in.Definition, CreatedAt: by.At},
	}
	p.VersionsHash = HashVersions(0, p.Latest)
	for range staleTries {
		if err = s.resultsExist(ctx, account, in.Examples); err != nil {
			return api.Prism{}, err
		}
		if in.DryRun {
			err = s.free(ctx, account, in.Slug)
		} else {
			err = s.store.CreatePrism(ctx, account, p, by)
		}
		if !errors.Is(err, store.ErrStale) {
			return NewBody(p), err
		}
	}
	return api.Prism{}, contract.ErrUnavailable
}

// free checks that an account has no prism with a slug.
func (s *Handlers) free(ctx context.Context, account prism.AccountID, slug string) error {
	_, err := s.store.Prism(ctx, account, prism.ParseRef(slug))
	switch {
	case err == nil:
		return store.ErrSlugTaken
	case errors.Is(err, store.ErrNotFound):
		return nil
	}
	return err
}

// lensOf is the Lens that was sent with a version, or else the derived one.
func lensOf(n api.NewVersion) prism.Lens {
	if n.Lens != nil {
		return *n.Lens
	}
	return lens.Derive(n.Definition)
}

func (s *Handlers) listPrisms(ctx context.Context, c store.Caller, in api.ListPrismsRequest) ([]byte, error) {
	which := map[string]Which{"false": Live, "true": Archived, "all": All}[in.Archived]
	if in.Kind == api.AdHocPrisms {
		which |= AdHoc
	}
	return bodies.List(contract.ListOfPrisms, in.Limit, in.Cursor,
		func(page store.Page) ([]prism.Prism, bool, error) {
			return s.store.ListPrisms(ctx, c.Account, which, page)
		},
		func(p prism.Prism) (api.Prism, error) { return NewBody(p), nil },
		func(p prism.Prism) prism.UUID { return p.ID.UUID })
}

func (s *Handlers) listVersions(ctx context.Context, c store.Caller, in api.ListVersionsRequest) ([]byte, error) {
	after, err := bodies.Position(contract.ListOfVersions, in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := s.store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return nil, err
	}
	versions, more, err := s.store.ListVersions(ctx, c.Account, found.ID, contract.VersionAt(after), in.Limit)
	if err != nil {
		return nil, err
	}
	return bodies.NewList(contract.ListOfVersions, versions, more,
		func(v prism.Version) (strictjson.Value, error) { return strictjson.Marshal(newVersionBody(v)) },
		func(v prism.Version) prism.UUID { return contract.VersionRow(v.Number) })
}

func (s *Handlers) renamePrism(ctx context.Context, account prism.AccountID, by store.By, in api.RenamePrismRequest) (api.Prism, error) {
	name := ""
	if in.Name != nil {
		name = *in.Name
	}
	p, err := s.change(ctx, account, in.Prism, func(p *prism.Prism) error {
		p.Name = name
		return s.store.Rename(ctx, account, p.ID, name, by)
	})
	return NewBody(p), err
}

func (s *Handlers) readPrism(ctx context.Context, c store.Caller, in api.PrismRequest) (api.Prism, error) {
	p, err := s.store.Prism(ctx, c.Account, in.Prism)
	return NewBody(p), err
}

func (s *Handlers) readVersion(ctx context.Context, c store.Caller, in api.VersionRequest) (api.Version, error) {
	p, err := s.store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return api.Version{}, access.Translate(err, apierr.PrismNotFound())
	}
	v, err := s.Version(ctx, c.Account, VersionIn(p, in.Version))
	if err != nil {
		return api.Version{}, err
	}
	return newVersionBody(v.Version), nil
}

func (s *Handlers) createVersion(ctx context.Context, account prism.AccountID, by store.By, in api.CreateVersionRequest) (api.Version, error) {
	var v prism.Version
	_, err := s.change(ctx, account, in.Prism, func(p *prism.Prism) error {
		was, err := condition(in.IfMatch, p)
		if err != nil {
			return err
		}
		if in.IfLatest != 0 && in.IfLatest != p.Latest.Number {
			return apierr.NotLatest(p.Latest.Number)
		}
		if err := s.resultsExist(ctx, account, in.Examples); err != nil {
			return err
		}
		v = prism.Version{Number: p.Latest.Number + 1, Definition: in.Definition, CreatedAt: prism.Now(s.now)}
		if in.ExamplesFromLabels != nil { // again in each attempt: a result that was taken may be gone
			if v.Examples, err = s.take(ctx, account, p.ID, in.Definition, *in.ExamplesFromLabels); err != nil {
				return err
			}
		}
		if in.DryRun {
			return nil
		}
		p.Latest, p.Lens, p.VersionsHash = v, lensOf(in.NewVersion), HashVersions(p.VersionsHash, v)
		return s.store.AddVersion(ctx, account, *p, was, by)
	})
	return newVersionBody(v), err
}

func (s *Handlers) replaceLens(ctx context.Context, account prism.AccountID, by store.By, in api.ReplaceLensRequest) (api.Prism, error) {
	p, err := s.change(ctx, account, in.Prism, func(p *prism.Prism) error {
		was, err := condition(in.IfMatch, p)
		if err != nil {
			return err
		}
		if problems := lens.Validate(in.Lens, p.Latest.Definition, ""); len(problems) > 0 {
			return apierr.Invalid(problems...)
		}
		p.Lens = in.Lens
		if in.DryRun {
			return nil
		}
		return s.store.PutLens(ctx, account, p.ID, p.Latest.Number, in.Lens, was, by)
	})
	return NewBody(p), err
}

// condition checks a prism that was read for a change: apierr.PrismChanged. was is what the prism must still be when the change is
// stored, or nil without a condition.
func condition(m api.IfMatch, p *prism.Prism) (was *prism.Prism, err error) {
	if m == nil {
		return nil, nil
	}
	body, err := strictjson.Marshal(NewBody(*p))
	if err != nil {
		return nil, err
	}
	if !m.Holds(body) {
		return nil, apierr.PrismChanged()
	}
	read := *p
	return &read, nil
}

// change calls attempt with the prism, and again if another version was stored first.
func (s *Handlers) change(ctx context.Context, account prism.AccountID, ref prism.Ref, attempt func(*prism.Prism) error) (prism.Prism, error) {
	for range staleTries {
		p, err := s.store.Prism(ctx, account, ref)
		if err != nil {
			return prism.Prism{}, err
		}
		if p.ArchivedAt != nil {
			return prism.Prism{}, apierr.ArchivedUnchangeable()
		}
		if p.AdHoc {
			return prism.Prism{}, apierr.AdHocPrism()
		}
		if err = attempt(&p); !errors.Is(err, store.ErrStale) {
			return p, err
		}
	}
	return prism.Prism{}, contract.ErrUnavailable
}

// archivePrism makes the handlers that archive and unarchive.
func (s *Handlers) archivePrism(
	archived bool,
) func(ctx context.Context, account prism.AccountID, by store.By, in api.PrismRequest) (api.Prism, error) {
	return func(ctx context.Context, account prism.AccountID, by store.By, in api.PrismRequest) (api.Prism, error) {
		p, err := s.store.Prism(ctx, account, in.Prism)
		if err != nil {
			return api.Prism{}, err
		}
		if p.AdHoc {
			return api.Prism{}, apierr.AdHocPrism()
		}
		archivedAt, err := s.store.SetArchived(ctx, account, p.ID, archived, by)
		if err != nil {
			return api.Prism{}, err
		}
		// A concurrent call may have changed the state again: the response shows what this call wrote.
		p, err = s.store.Prism(ctx, account, prism.Ref{ID: p.ID})
		p.ArchivedAt = archivedAt
		return NewBody(p), err
	}
}

// NewBody is a prism as responses have it.
func NewBody(p prism.Prism) api.Prism {
	body := api.Prism{
		ID: p.ID.String(), Slug: p.Slug, Name: bodies.Optional(p.Name), ArchivedAt: bodies.Time(p.ArchivedAt),
		CreatedAt: api.Time{Time: p.CreatedAt}, LatestVersion: int(p.Latest.Number), Lens: p.Lens, Version: newVersionBody(p.Latest),
	}
	if p.Unsearchable {
		body.Searchable = new(false)
	}
	if p.RetentionDays > 0 {
		body.RetentionDays = new(int(p.RetentionDays))
	}
	return body
}

func newVersionBody(v prism.Version) api.Version {
	return api.Version{
		Version: int(v.Number), Instructions: bodies.Optional(v.Instructions), Model: bodies.Optional(v.Model), Escalate: v.Escalate, Fields: v.Fields,
		Questions: v.Questions, Examples: v.Examples, CreatedAt: api.Time{Time: v.CreatedAt},
	}
}
