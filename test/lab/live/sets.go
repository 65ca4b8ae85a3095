package main

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/client"
)

// set is a prism of one question, and texts with the answers that people gave.
type set struct {
	prism client.NewPrism
	rows  []labelled
}

type labelled struct{ text, answer string }

//go:embed prisms.json
var prismsJSON []byte

// readSets returns Banking77 of the examples first, and then the prisms of prisms.json.
func readSets(root string) ([]set, error) {
	banking, err := readBanking(filepath.Join(root, "examples", "banking77"))
	if err != nil {
		return nil, err
	}
	sets := []set{banking}
	var own []struct {
		Prism client.NewPrism `json:"prism"`
		Rows  [][2]string     `json:"rows"`
	}
	if err := json.Unmarshal(prismsJSON, &own); err != nil {
		return nil, fmt.Errorf("prisms.json: %w", err)
	}
	for _, o := range own {
		s := set{prism: o.Prism}
		for _, r := range o.Rows {
			s.rows = append(s.rows, labelled{r[0], r[1]})
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// readBanking reads the example's data and the first question of its prism, which is the one that the data answers. Without
// the descriptions of the options the prompts are short enough for two cores.
func readBanking(dir string) (s set, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, "prism.json"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s.prism); err != nil {
		return s, err
	}
	s.prism.Questions, s.prism.Lens = s.prism.Questions[:1], nil
	for i := range s.prism.Questions[0].Options {
		s.prism.Questions[0].Options[i].Description = ""
	}
	f, err := os.Open(filepath.Join(dir, "questions.csv"))
	if err != nil {
		return s, err
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err := errors.Join(err, f.Close()); err != nil {
		return s, err
	}
	for _, r := range rows[1:] {
		s.rows = append(s.rows, labelled{r[0], r[1]})
	}
	return s, nil
}

// some returns n rows from all over, or all rows.
func some(rows []labelled, n int) []labelled {
	n = min(max(n, 0), len(rows))
	chosen := make([]labelled, n)
	for i := range chosen {
		chosen[i] = rows[i*len(rows)/n]
	}
	return chosen
}

// value is the answer's key.
func value(a client.Answer) string {
	switch {
	case a.Type == client.Choice:
		return a.Value
	case a.Type == client.Scale:
		return a.Level
	case a.Probability != nil && *a.Probability >= 0.5:
		return "yes"
	default:
		return "no"
	}
}
