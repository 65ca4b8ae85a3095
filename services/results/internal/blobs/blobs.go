// Package blobs keeps the content of files: their parts as they were sent, and canonical copies of files whose rows are no ranges
// of the file itself. Each content is at most as long as a part, has a name that no other bytes have, and never changes. Only
// package store knows which contents belong to a file.
package blobs

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Blobs keeps contents.
type Blobs interface {
	// Put stores a content durably, and completely or not at all. Storing it again changes nothing.
	Put(ctx context.Context, f store.FileOwner, name string, content []byte) error
	// Get reads a range of a content, which is cut off at the end of the content: store.ErrNotFound.
	Get(ctx context.Context, f store.FileOwner, name string, offset, bytes int64) ([]byte, error)
	// Delete deletes the contents of a file whose names begin with prefix; "" deletes all.
	Delete(ctx context.Context, f store.FileOwner, prefix string) error
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

// copyPart is the name of a part of a copy; the first has the number 1.
func copyPart(id prism.UUID, number int64) string { return fmt.Sprintf("%s%05d", CopyOf(id), number) }

// database keeps contents in the store.
type database struct{ store store.Contents }

// InDatabase keeps contents in the database of a store.
func InDatabase(s store.Contents) Blobs { return database{s} }

// Put implements Blobs.
func (d database) Put(ctx context.Context, f store.FileOwner, name string, content []byte) error {
	return d.store.PutContent(ctx, f, name, content)
}

// Get implements Blobs.
func (d database) Get(ctx context.Context, f store.FileOwner, name string, offset, bytes int64) ([]byte, error) {
	return d.store.Content(ctx, f, name, offset, bytes)
}

// Delete implements Blobs.
func (d database) Delete(ctx context.Context, f store.FileOwner, prefix string) error {
	return d.store.DeleteContents(ctx, f, prefix)
}
