// Package credential gives the secrets with which Prism shows to others who it is: the content of a file that changes
// (spec: secrets-from-files).
package credential

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/prism-results/prism/pkg/reload"
)

// Source gives the secret to use now. It is safe for concurrent use.
type Source interface {
	// Secret returns the current secret.
	Secret() string
	// Refused tells the source that the other side refused a text, so that Secret returns another one, if there is another one.
	Refused(text string)
}

// file is the Source of a file.
type file struct {
	value *reload.Value[contents]

	mu     sync.Mutex
	use    string // the text that Secret returns
	behind contents
}

// contents are what the file has, and what it had before.
type contents struct{ current, previous string }

// File reads a secret from a file, without the white space around it, and again when the file changes. While one side of a rotation
// has the new secret and the other side has the old one, a secret that is refused is replaced by the other one. check may be nil;
// its error must not repeat the secret.
func File(path string, log *slog.Logger, check func(text string) error) (Source, error) {
	return Part(path, log, func(content []byte) (string, error) {
		text := strings.TrimSpace(string(content))
		if text == "" {
			return "", fmt.Errorf("%s: is empty", path)
		}
		if check != nil {
			if err := check(text); err != nil {
				return "", fmt.Errorf("%s: %w", path, err)
			}
		}
		return text, nil
	})
}

// Part is File for a secret that is a part of a file, which find returns. The error of find must not repeat a secret.
func Part(path string, log *slog.Logger, find func(content []byte) (string, error)) (Source, error) {
	var last contents
	value, err := reload.New(log, func(files [][]byte) (contents, error) {
		text, err := find(files[0])
		if err == nil && text != last.current { // else another part of the file changed
			last = contents{text, last.current}
		}
		return last, err
	}, path)
	if err != nil {
		return nil, err
	}
	return &file{value: value}, nil
}

// Secret implements Source. While the file cannot be used, the last secret stays.
func (f *file) Secret() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text()
}

// text is the text to use: that of the file, from when the file changed until it is refused.
func (f *file) text() string {
	if c := f.value.Get(); c != f.behind {
		f.behind, f.use = c, c.current
	}
	return f.use
}

// Refused implements Source.
func (f *file) Refused(text string) {
	f.value.Refresh()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.text() != text || f.behind.previous == "" {
		return
	}
	if f.use = f.behind.current; f.use == text {
		f.use = f.behind.previous
	}
}

// Static is a Source of one secret that does not change.
type Static string

// Secret implements Source.
func (s Static) Secret() string { return string(s) }

// Refused implements Source: there is no other secret.
func (Static) Refused(string) {}
