package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// table writes the rows as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| upstream | prism | answered | right | by chance | said most | label mass | at most 0.5 | " +
		"tokens in, out | p50 | slowest | what went wrong |\n" +
		"|---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---|\n")
	for _, r := range rows {
		f := r.after.less(r.before)
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %s | %d%% | %s | %s | %s | %.0f, %.0f | %s | %s | %s |\n",
			r.upstream, r.prism, r.answered, r.asked, percent(float64(r.right), float64(r.answered)), 100/r.choices, r.most(),
			mean(f.mass, f.massed), percent(f.low, f.massed), f.input, f.output,
			milliseconds(percentile(r.took, 50)), milliseconds(percentile(r.took, 100)), r.problems(f))
	}
	return b.String()
}

// most is the answer that the model gave most often. A small model may give nearly always the same.
func (r row) most() string {
	answer := ""
	for _, a := range slices.Sorted(maps.Keys(r.said)) {
		if r.said[a] > r.said[answer] {
			answer = a
		}
	}
	return fmt.Sprintf("`%s` %s", answer, percent(float64(r.said[answer]), float64(r.answered)))
}

// problems lists what went wrong, most frequent first.
func (r row) problems(f figures) string {
	var all []string
	for _, text := range slices.SortedFunc(maps.Keys(r.wrong), func(a, b string) int { return r.wrong[b] - r.wrong[a] }) {
		all = append(all, fmt.Sprintf("%d × %s", r.wrong[text], text))
	}
	if f.lost > 0 {
		all = append(all, fmt.Sprintf("%.0f of %.0f calls of the model without a response of status 2xx", f.lost, f.attempts))
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, "; ")
}

func percent(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*part/whole)
}

func mean(sum, count float64) string {
	if count == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", sum/count)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// percentile is by nearest rank; 0 of nothing.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(p/100*float64(len(sorted))))-1)]
}

// silent is an error when an upstream answered nothing of a prism: something is wrong with more than the model's wits.
func silent(rows []row) error {
	for _, r := range rows {
		if r.answered == 0 {
			return fmt.Errorf("%s answered none of the %d texts of %s", r.upstream, r.asked, r.prism)
		}
	}
	return nil
}
