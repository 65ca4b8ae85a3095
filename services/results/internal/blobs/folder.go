package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/prism-results/prism/services/results/internal/store"
)

// folder keeps each content in a file of its own, below a folder for the account and one for the file.
type folder string

// InFolder keeps contents in a folder, which is created when it is first needed.
func InFolder(path string) Blobs { return folder(path) }

func (f folder) filePath(file store.FileOwner) string {
	return filepath.Join(string(f), file.Account.String(), file.ID.String())
}

// unfinished begins the names of files that are being written.
const unfinished = ".part-"

// Put implements Blobs. The content is written beside its place and renamed, and the folders are synced, so that a power failure
// leaves it whole or not at all.
func (f folder) Put(_ context.Context, file store.FileOwner, name string, content []byte) (err error) {
	defer withoutPath(&err)
	dir := f.filePath(file)
	if err := makeFolders(dir); err != nil {
		return err
	}
	to, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer func() { // nothing to remove after the rename
		if err != nil {
			_ = os.Remove(to.Name())
		}
	}()
	_, err = to.Write(content)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return err
	}
	if err := os.Rename(to.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return sync(dir)
}

// makeFolders makes the folder and those above it that are missing, and syncs what changed.
func makeFolders(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := makeFolders(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return sync(above)
}

// sync makes the entries of a folder durable.
func sync(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // made of ids
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get implements Blobs.
func (f folder) Get(_ context.Context, file store.FileOwner, name string, offset, bytes int64) (content []byte, err error) {
	defer withoutPath(&err)
	from, err := os.Open(filepath.Join(f.filePath(file), name)) //nolint:gosec // made of ids, numbers and digests
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrContentMissing
	} else if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	content = make([]byte, bytes)
	n, err := from.ReadAt(content, offset)
	if errors.Is(err, io.EOF) {
		err = nil // the content ends there
	}
	return content[:n], err
}

// Delete implements Blobs.
func (f folder) Delete(ctx context.Context, file store.FileOwner, prefix string, _ ...string) (again bool, err error) {
	defer withoutPath(&err)
	dir := f.filePath(file)
	if prefix == "" {
		return false, os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

// withoutPath removes the path, which contains ids, from an error of the system, such as that the disk is full.
func withoutPath(err *error) {
	if *err == nil || errors.Is(*err, store.ErrContentMissing) {
		return
	}
	path, ok := errors.AsType[*fs.PathError](*err)
	switch {
	case errors.Is(*err, syscall.ENOSPC):
		*err = fmt.Errorf("the folder of files: %w", store.ErrFull)
	case ok:
		*err = fmt.Errorf("the folder of files: %s: %w", path.Op, path.Err)
	}
}
