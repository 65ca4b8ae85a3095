// Package site has the files of the app, ready to be served: typed, compressed and tagged once, when the service starts.
package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// File is one file of the app. Its bytes are shared by all responses.
type File struct {
	Type string // the media type
	Body []byte
	Gzip []byte // nil where it would save little
	ETag string
	// Immutable is a file whose name has a hash of its content.
	Immutable bool
}

// Site is the app. It is safe for concurrent use.
type Site struct {
	files map[string]*File
}

// index is the page of the app, and assets the folder of the files with a hash in their names. docs is the page that the gateway
// serves.
const (
	index  = "index.html"
	docs   = "docs.html"
	assets = "assets/"
)

// types are the media types of the files that a build makes, by extension. The machine's own table would differ between machines.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
	".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
}

// leastSaving is the part of a file that compression has to save.
const leastSaving = 10 // as a divisor

// New reads all files of a build. A build without index.html, or with a file of an unknown type, is an error.
func New(build fs.FS) (*Site, error) {
	s := &Site{files: map[string]*File{}}
	err := fs.WalkDir(build, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == docs {
			return err
		}
		body, err := fs.ReadFile(build, name)
		if err != nil {
			return err
		}
		media, known := types[path.Ext(name)]
		if !known {
			return fmt.Errorf("%s: its type is not known", name)
		}
		s.files[name], err = newFile(media, body, strings.HasPrefix(name, assets))
		return err
	})
	if err == nil && s.files[index] == nil {
		err = fmt.Errorf("there is no %s: the front end is not built", index)
	}
	return s, err
}

func newFile(media string, body []byte, immutable bool) (*File, error) {
	sum := sha256.Sum256(body)
	// The tag is weak, as it is that of the compressed bytes too (RFC 9110, 8.8.1).
	f := &File{Type: media, Body: body, ETag: `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, Immutable: immutable}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if zipped.Len() < len(body)-len(body)/leastSaving {
		f.Gzip = bytes.Clone(zipped.Bytes())
	}
	return f, nil
}

// Find is the file of a path below /console/, or nil. A path whose last segment has no extension is a page of the app.
func (s *Site) Find(name string) *File {
	if f := s.files[name]; f != nil {
		return f
	}
	if _, last := path.Split(name); strings.Contains(last, ".") || strings.HasPrefix(name, assets) {
		return nil
	}
	return s.files[index]
}
