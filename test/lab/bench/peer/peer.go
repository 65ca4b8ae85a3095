// Package peer is the program that a user would write instead of Prism, in JavaScript: server.js and what it imports.
package peer

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed *.js package.json
var sources embed.FS

// Write copies the sources into a folder, beside the packages that are installed there.
func Write(dir string) error {
	return fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), b, 0o644)
	})
}
