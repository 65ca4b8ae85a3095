package client

import (
	"net/url"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// ResultSearch narrows results by their texts, answers and labels; an empty member selects all.
type ResultSearch = api.ResultSearch

// TextStyle changes how CSV and TSV are written, for spreadsheets.
type TextStyle = api.TextStyle

// Delimiter is what TextStyle has between cells: a comma, a semicolon, a bar or a tab.
type Delimiter = api.Delimiter

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func setSearch(q url.Values, s ResultSearch) {
	set(q, "q", s.Q)
	if len(s.Where) > 0 {
		q["where"] = s.Where
	}
}

// setStyle sets what is not the default.
func setStyle(q url.Values, s TextStyle) {
	if s.BOM {
		q.Set("bom", "true")
	}
	if s.Safe {
		q.Set("safe", "true")
	}
	set(q, "delimiter", string(s.Delimiter))
}

func setRaw(q url.Values, raw bool) {
	if raw {
		q.Set("raw", "true")
	}
}
