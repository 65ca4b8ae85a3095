// Package blobs keeps the content of files: their parts as they were sent, and canonical copies of files whose rows are no ranges
// of the file itself. Each content is at most as long as a part, has a name that no other bytes have, and never changes. Only
// package store knows which contents belong to a file.
package blobs

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Blobs keeps contents.
type Blobs interface {
	// Put stores a content durably, and completely or not at all. Storing it again changes nothing.
	Put(ctx context.Context, f store.FileOwner, name string, content []byte) error
	// Get reads a range of a content, which is cut off at the end of the content: store.ErrContentMissing.
	Get(ctx context.Context, f store.FileOwner, name string, offset, bytes int64) ([]byte, error)
	// Delete deletes the contents of a file whose names begin with prefix; "" deletes all. known are the names of those that the store
	// knows, which the list of an object store may lack. again tells that there may be more, which a later call finds.
	Delete(ctx context.Context, f store.FileOwner, prefix string, known ...string) (again bool, err error)
}

// Part is the name of a part of a file. It contains the digest, so that concurrent calls with different contents for the same
// part do not overwrite each other.
func Part(number int32, digest [32]byte) string {
	return fmt.Sprintf("part-%05d-%s", number, hex.EncodeToString(digest[:]))
}

// Copies is the prefix of the names of all copies of a file.
const Copies = "copy-"

// CopyOf is the prefix of the names of the parts of one copy.
func CopyOf(id prism.UUID) string { return Copies + id.String() + "-" }

// Known are the names of the contents of a file that the store knows.
func Known(parts []store.Part, c store.Copy) (names []string) {
	for _, p := range parts {
		names = append(names, Part(p.Number, p.SHA256))
	}
	for at := int64(0); at < c.Bytes; at += contract.PartBytes {
		names = append(names, copyPart(c.ID, at/contract.PartBytes+1))
	}
	return names
}

// copyPart is the name of a part of a copy; the first has the number 1.
func copyPart(id prism.UUID, number int64) string { return fmt.Sprintf("%s%05d", CopyOf(id), number) }

// Contents keeps the content of files in a database. A content never changes.
type Contents interface {
	// PutContent stores a content; one that is there stays.
	PutContent(ctx context.Context, f store.FileOwner, name string, content []byte) error
	// Content is a range of a content, which ends where the content ends: ErrNotFound.
	Content(ctx context.Context, f store.FileOwner, name string, offset, bytes int64) ([]byte, error)
	// DeleteContents deletes the contents whose names begin with prefix.
	DeleteContents(ctx context.Context, f store.FileOwner, prefix string) error
}

// database keeps contents in the store.
type database struct{ store Contents }

// InDatabase keeps contents in the database of a store.
func InDatabase(s Contents) Blobs { return database{s} }

// Put implements Blobs.
func (d database) Put(ctx context.Context, f store.FileOwner, name string, content []byte) error {
	return d.store.PutContent(ctx, f, name, content)
}

// Get implements Blobs.
func (d database) Get(ctx context.Context, f store.FileOwner, name string, offset, bytes int64) ([]byte, error) {
	content, err := d.store.Content(ctx, f, name, offset, bytes)
	if errors.Is(err, store.ErrNotFound) {
		err = store.ErrContentMissing
	}
	return content, err
}

// Delete implements Blobs.
func (d database) Delete(ctx context.Context, f store.FileOwner, prefix string, _ ...string) (again bool, err error) {
	return false, d.store.DeleteContents(ctx, f, prefix)
}
