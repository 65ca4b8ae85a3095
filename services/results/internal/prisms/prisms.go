// Package prisms keeps prisms with their versions, and caches the versions that answer.
package prisms

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store keeps prisms and their versions.
type Store interface {
	// CreatePrism stores a prism with its version 1: ErrSlugTaken, ErrStale if a result of its examples is gone.
	CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism, by store.By) error
	// Prism finds a prism with its latest version, archived or not: ErrNotFound.
	Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
	// ListPrisms is a page of prisms with their latest versions, newest first.
	ListPrisms(ctx context.Context, account prism.AccountID, which Which, page store.Page) (prisms []prism.Prism, more bool, err error)
	// ListVersions is a page of the versions of a prism below a number, or from the newest if the number is 0.
	ListVersions(
		ctx context.Context, account prism.AccountID, id prism.PrismID, below int32, limit int,
	) (versions []prism.Version, more bool, err error)
	// Version finds one version: ErrNotFound.
	Version(ctx context.Context, account prism.AccountID, id prism.PrismID, number int32) (prism.Version, error)
	// AddVersion atomically stores p.Latest, whose number must be one above the latest, and replaces the Lens and VersionsHash
	// of the prism with those of p: ErrNotFound, ErrArchived, ErrStale if another version was added first, or a result of its examples is
	// gone. If was, which Prism has returned, is not nil, any difference between the prism and was is ErrStale too.
	AddVersion(ctx context.Context, account prism.AccountID, p prism.Prism, was *prism.Prism, by store.By) error
	// MissingResults are those of at most prism.MaxExamples ids of results that the account does not have.
	MissingResults(ctx context.Context, account prism.AccountID, ids []prism.UUID) ([]prism.UUID, error)
	// PutLens replaces the Lens if the latest version is the given one, and the prism is as in was, unless that is nil:
	// ErrNotFound, ErrArchived, ErrStale.
	PutLens(
		ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens, was *prism.Prism, by store.By,
	) error
	// Rename replaces the name: ErrNotFound, ErrArchived. The same name changes nothing.
	Rename(ctx context.Context, account prism.AccountID, id prism.PrismID, name string, by store.By) error
	// SetArchived archives a prism at by.At, or unarchives it, and returns the time of archiving: archiving again keeps the
	// first time, and like unarchiving again changes nothing. ErrNotFound.
	SetArchived(ctx context.Context, account prism.AccountID, id prism.PrismID, archived bool, by store.By) (*time.Time, error)
}

// Which selects prisms.
type Which int

// The selections.
const (
	Live Which = iota // those that are not archived
	Archived
	All
	// AdHoc is added to one of the others, which else select no ad-hoc ones.
	AdHoc Which = 1 << 4
)
