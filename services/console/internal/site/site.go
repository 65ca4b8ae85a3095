// Package site has the files of the app, ready to be served.
package site

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/prism-results/prism/pkg/httpkit"
)

// Site is the app. It is safe for concurrent use.
type Site struct {
	files map[string]*httpkit.File
}

// index is the page of the app, and assets the folder of the files with a hash in their names. The gateway serves docs.
const (
	index  = "index.html"
	docs   = "docs.html"
	assets = "assets/"
)

// New reads all files of a build. A build without index.html, or with a file of an unknown type, is an error.
func New(build fs.FS) (*Site, error) {
	s := &Site{files: map[string]*httpkit.File{}}
	err := fs.WalkDir(build, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == docs {
			return err
		}
		body, err := fs.ReadFile(build, name)
		if err != nil {
			return err
		}
		s.files[name], err = httpkit.NewFile(name, body, strings.HasPrefix(name, assets))
		return err
	})
	if err == nil && s.files[index] == nil {
		err = fmt.Errorf("there is no %s: the front end is not built", index)
	}
	return s, err
}

// Find is the file of a path below /console/, or nil. A path whose last segment has no extension is a page of the app.
func (s *Site) Find(name string) *httpkit.File {
	if f := s.files[name]; f != nil {
		return f
	}
	if _, last := path.Split(name); strings.Contains(last, ".") || strings.HasPrefix(name, assets) {
		return nil
	}
	return s.files[index]
}
