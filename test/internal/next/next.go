// Package next is a release to come, for tests of two releases beside each other: this one with an added member of requests and of
// responses, and an added operation. Builds with its overlay (go build -overlay) are that release.
//
//	PUT /v1/prisms/{prism}/retention  takes the member note, and returns it as retention_note
//	GET /v1/prisms/{prism}/retention  is the operation readRetention
package next

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// edit is a text of a file and what takes its place.
type edit struct{ file, old, with string }

var edits = []edit{
	{"pkg/api/retention.go", "\tDays *int `json:\"days\"", `	// Why.
	Note string ` + "`json:\"note,omitzero\" max:\"200\"`" + `
	Days *int ` + "`json:\"days\""},
	{"pkg/api/retention.go", "// SetRetentionRequest is", `// ReadRetention reads how long results are kept.
var ReadRetention = Op[PrismRequest, Retention]{Declaration{
	Name: "readRetention", Method: http.MethodGet, Path: "/v1/prisms/{prism}/retention", Tag: "Prisms", Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// SetRetentionRequest is`},
	{"pkg/api/operations.go", "SetRetention,", "SetRetention, ReadRetention,"},
	{"pkg/api/prisms.go", "	// ETag names the prism", `	// Why, if the response is that of SetRetention.
	RetentionNote string ` + "`json:\"retention_note,omitzero\"`" + `
	// ETag names the prism`},
	{"services/results/internal/prisms/handlers.go", "		access.Handle(api.ReadVersion, s.readVersion),", `		access.Handle(api.ReadVersion, s.readVersion),
		access.Handle(api.ReadRetention, func(ctx context.Context, c store.Caller, in api.PrismRequest) (api.Retention, error) {
			p, err := s.readPrism(ctx, c, in)
			return api.Retention{Days: p.RetentionDays}, err
		}),`},
	{
		"services/results/internal/deletion/handlers.go", "	return prisms.NewBody(p), h.store.SetRetention(",
		"	body := prisms.NewBody(p)\n	body.RetentionNote = in.Note\n	return body, h.store.SetRetention(",
	},
}

// Overlay writes the changed files of a repository below its .tools, and returns the file that -overlay takes. What is the same has the
// same file, so that programs are linked once.
func Overlay(root string) (string, error) {
	changed := map[string]string{}
	for _, e := range edits {
		if _, ok := changed[e.file]; !ok {
			text, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return "", err
			}
			changed[e.file] = string(text)
		}
		if n := strings.Count(changed[e.file], e.old); n != 1 {
			return "", fmt.Errorf("next: %s has %d times %q", e.file, n, e.old)
		}
		changed[e.file] = strings.Replace(changed[e.file], e.old, e.with, 1)
	}
	folder := filepath.Join(root, ".tools", "next")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range changed {
		at, err := write(folder, ".go", []byte(text))
		if err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, file)] = at
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	return write(folder, ".json", b)
}

// write keeps a content in a file that is named by it. Others may write the same at the same time.
func write(folder, suffix string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	at := filepath.Join(folder, hex.EncodeToString(sum[:8])+suffix)
	f, err := os.CreateTemp(folder, "new-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	return at, errors.Join(err, f.Close(), os.Rename(f.Name(), at))
}
