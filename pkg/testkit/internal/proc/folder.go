package proc

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	folderPrefix = "prism-test-"
	lockName     = "owner.lock"

	// A socket's path holds at most 107 bytes on Linux and 103 elsewhere. Room is left for the random part and file name.
	longestParent = 64

	// A younger folder may not be locked yet by the process that creates it.
	sweepAge = time.Minute
)

// Folder is a temporary folder with a path short enough for sockets. NewFolder removes the folders of processes that
// were killed.
type Folder struct {
	Path string
	lock *os.File
}

// NewFolder makes a folder that acc owns; the zero Account is the account of this process.
func NewFolder(acc Account) (*Folder, error) {
	parent := folderParent(acc)
	sweep(parent)
	path, err := os.MkdirTemp(parent, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = tryLock(lock)
	}
	if err == nil && acc.Other {
		err = os.Chown(path, acc.UID, acc.GID)
	}
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	return &Folder{Path: path, lock: lock}, nil
}

// File returns the path of a file in the folder.
func (f *Folder) File(name string) string { return filepath.Join(f.Path, name) }

// Remove removes the folder and all that is in it.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	_ = f.lock.Close()
	return err
}

func folderParent(acc Account) string {
	parent := os.TempDir()
	if len(parent) > longestParent || acc.Other && !anyoneMayEnter(parent) {
		return "/tmp"
	}
	return parent
}

func anyoneMayEnter(path string) bool {
	for ; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if path == filepath.Dir(path) {
			return true
		}
	}
}

// sweep removes the folders of processes that were killed. The kernel has released their locks.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), folderPrefix) {
			sweepFolder(entry, filepath.Join(parent, entry.Name()))
		}
	}
}

func sweepFolder(entry fs.DirEntry, path string) {
	if info, err := entry.Info(); err != nil || time.Since(info.ModTime()) < sweepAge {
		return
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer lock.Close()
	if tryLock(lock) == nil {
		_ = os.RemoveAll(path)
	}
}
