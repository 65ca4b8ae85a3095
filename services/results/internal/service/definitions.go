package service

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// staleTries bounds how often a change is repeated because another change was stored first.
const staleTries = 32

// CreatePrism implements contract.Results.
func (s *Service) CreatePrism(ctx context.Context, key contract.KeyDigest, n contract.NewPrism) (contract.Response, error) {
	account, err := s.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	id, err := s.NewID()
	if err != nil {
		return contract.Response{}, err
	}
	at := prism.Now(s.Now)
	p := prism.Prism{
		ID: prism.PrismID{UUID: id}, Slug: n.Slug, Name: n.Name, CreatedAt: at, Lens: lensOf(n.NewVersion),
		Latest: prism.Version{Number: 1, Definition: n.Definition, CreatedAt: at},
	}
	if n.DryRun {
		err = s.free(ctx, account, n.Slug)
	} else {
		err = s.Store.CreatePrism(ctx, account, p)
	}
	if err != nil {
		return contract.Response{}, translate(err)
	}
	return respond(newPrismBody(p))
}

// free checks that an account has no prism with a slug.
func (s *Service) free(ctx context.Context, account prism.AccountID, slug string) error {
	_, err := s.Store.Prism(ctx, account, prism.ParseRef(slug))
	switch {
	case err == nil:
		return store.ErrSlugTaken
	case errors.Is(err, store.ErrNotFound):
		return nil
	}
	return err
}

// lensOf is the Lens that was sent with a version, or else the derived one.
func lensOf(n contract.NewVersion) prism.Lens {
	if n.Lens != nil {
		return *n.Lens
	}
	return lens.Derive(n.Definition)
}

// ListPrisms implements contract.Results.
func (s *Service) ListPrisms(ctx context.Context, key contract.KeyDigest, q contract.PrismList) (contract.Response, error) {
	account, err := s.authenticate(ctx, key)
	if err != nil {
		return contract.Response{}, err
	}
	page, err := storePage(q.Page)
	if err != nil {
		return contract.Response{}, err
	}
	prisms, err := s.Store.ListPrisms(ctx, account, q.Archived, page)
	if err != nil {
		return contract.Response{}, translate(err)
	}
	return listResponse(prisms, q.Page.Limit,
		func(p prism.Prism) (strictjson.Value, error) { return strictjson.Marshal(newPrismBody(p)) },
		func(p prism.Prism) contract.Position { return contract.Position{At: p.CreatedAt, ID: p.ID.UUID} })
}

// Prism implements contract.Results.
func (s *Service) Prism(ctx context.Context, key contract.KeyDigest, ref prism.Ref) (contract.Response, error) {
	_, p, err := s.prism(ctx, key, ref)
	if err != nil {
		return contract.Response{}, err
	}
	return respond(newPrismBody(p))
}

// prism finds a prism of the key's account, archived or not.
func (s *Service) prism(ctx context.Context, key contract.KeyDigest, ref prism.Ref) (prism.AccountID, prism.Prism, error) {
	account, err := s.authenticate(ctx, key)
	if err != nil {
		return prism.AccountID{}, prism.Prism{}, err
	}
	p, err := s.Store.Prism(ctx, account, ref)
	return account, p, missing(err, apierr.PrismNotFound())
}

// missing is translate, with notFound for what a store did not find.
func missing(err error, notFound *apierr.Error) error {
	if errors.Is(err, store.ErrNotFound) {
		return notFound
	}
	return translate(err)
}

// Version implements contract.Results.
func (s *Service) Version(ctx context.Context, key contract.KeyDigest, ref prism.Ref, number int32) (contract.Response, error) {
	account, p, err := s.prism(ctx, key, ref)
	if err != nil {
		return contract.Response{}, err
	}
	v, err := s.version(ctx, account, p.ID, number)
	if err != nil {
		return contract.Response{}, missing(err, apierr.VersionNotFound())
	}
	return respond(newVersionBody(v.Version))
}

// AddVersion implements contract.Results.
func (s *Service) AddVersion(ctx context.Context, key contract.KeyDigest, ref prism.Ref, n contract.NewVersion) (contract.Response, error) {
	var v prism.Version
	_, err := s.change(ctx, key, ref, func(account prism.AccountID, p *prism.Prism) error {
		v = prism.Version{Number: p.Latest.Number + 1, Definition: n.Definition, CreatedAt: prism.Now(s.Now)}
		if n.DryRun {
			return nil
		}
		return s.Store.AddVersion(ctx, account, p.ID, v, lensOf(n))
	})
	if err != nil {
		return contract.Response{}, err
	}
	return respond(newVersionBody(v))
}

// PutLens implements contract.Results.
func (s *Service) PutLens(ctx context.Context, key contract.KeyDigest, ref prism.Ref, l contract.NewLens) (contract.Response, error) {
	p, err := s.change(ctx, key, ref, func(account prism.AccountID, p *prism.Prism) error {
		if problems := lens.Validate(l.Lens, p.Latest.Definition, ""); len(problems) > 0 {
			return apierr.Invalid(problems...)
		}
		p.Lens = l.Lens
		if l.DryRun {
			return nil
		}
		return s.Store.PutLens(ctx, account, p.ID, p.Latest.Number, l.Lens)
	})
	if err != nil {
		return contract.Response{}, err
	}
	return respond(newPrismBody(p))
}

// change calls attempt with the prism, and again if another version was stored first.
func (s *Service) change(ctx context.Context, key contract.KeyDigest, ref prism.Ref, attempt func(prism.AccountID, *prism.Prism) error) (prism.Prism, error) {
	for range staleTries {
		account, p, err := s.prism(ctx, key, ref)
		if err != nil {
			return prism.Prism{}, err
		}
		if p.ArchivedAt != nil {
			return prism.Prism{}, apierr.ArchivedUnchangeable()
		}
		if err = attempt(account, &p); !errors.Is(err, store.ErrStale) {
			return p, missing(err, apierr.PrismNotFound())
		}
	}
	return prism.Prism{}, contract.ErrUnavailable
}

// SetArchived implements contract.Results.
func (s *Service) SetArchived(ctx context.Context, key contract.KeyDigest, ref prism.Ref, archived bool) (contract.Response, error) {
	account, p, err := s.prism(ctx, key, ref)
	if err != nil {
		return contract.Response{}, err
	}
	at := prism.Now(s.Now)
	change := &at
	if !archived {
		change = nil
	}
	if err := s.Store.SetArchived(ctx, account, p.ID, change); err != nil {
		return contract.Response{}, missing(err, apierr.PrismNotFound())
	}
	// Read the prism again: of two concurrent calls, the first one's time stays.
	p, err = s.Store.Prism(ctx, account, prism.Ref{ID: p.ID})
	if err != nil {
		return contract.Response{}, missing(err, apierr.PrismNotFound())
	}
	return respond(newPrismBody(p))
}
