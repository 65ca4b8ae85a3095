package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prism-results/prism/client"
)

// explainFields adds to an error about missing or unknown fields which of the keys that were sent are unknown, and the
// closest field.
func explainFields(ctx context.Context, c *client.Client, slug string, r client.NewResult, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != client.CodeValidationFailed || len(r.Fields) == 0 ||
		!strings.HasPrefix(refused.Message, "Missing fields: ") && !strings.HasPrefix(refused.Message, "Unknown fields: ") {
		return err
	}
	p, readErr := readPrism(ctx, c, slug, r.Version)
	if readErr != nil {
		return err // the error stands without its explanation
	}
	var known, missing []string
	for _, f := range p.Version.Fields {
		known = append(known, f.Key)
		if _, sent := r.Fields[f.Key]; !sent {
			missing = append(missing, f.Key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Fields)) {
		if slices.Contains(known, key) {
			continue
		}
		hint := "its fields are " + strings.Join(known, ", ")
		if near := closest(key, missing); near != "" {
			hint = "did you mean " + near + "?"
		}
		err = errors.Join(err, fmt.Errorf("%s has no field %q: %s", p.Slug, key, hint))
	}
	return err
}

// closest returns the name that is most like s; "" if none shares more than half of it.
func closest(s string, names []string) (near string) {
	best := len(s)/2 + 1
	for _, name := range names {
		if d := distance(s, name); d < best {
			near, best = name, d
		}
	}
	return near
}

// distance is the Levenshtein distance between a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
