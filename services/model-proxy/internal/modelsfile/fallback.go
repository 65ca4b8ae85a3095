package modelsfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/yamlfile"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

func (r *reader) fallback(m member, where string) (names []string) {
	for i, item := range r.list(m.value, where) {
		name := ""
		if item == nil {
			r.Add(m.line, where+"."+strconv.Itoa(i), "must be the name of a model")
		} else if name = r.text(item, where+"."+strconv.Itoa(i)); name == "" && yamlfile.IsText(item) {
			r.Wrong(item, where+"."+strconv.Itoa(i), "must be the name of a model")
		}
		names = append(names, name)
	}
	return names
}

// fallbackOn reads the classes of failures that fall back beside the default ones, and with a hyphen before them those that do not
// (spec: fallback).
func (r *reader) fallbackOn(m member, where string) map[failure.Class]bool {
	on := map[failure.Class]bool{}
	for i, item := range r.list(m.value, where) {
		at := where + "." + strconv.Itoa(i)
		text := ""
		if item != nil {
			text = r.text(item, at)
		}
		name, removed := strings.CutPrefix(text, "-")
		class := failure.Class(name)
		_, twice := on[class]
		switch {
		case item != nil && !yamlfile.IsText(item): // reported by text
		case !slices.Contains(failure.Classes(), class):
			r.Add(m.line, at, fmt.Sprintf("must be a class of failures, as %s, or one behind a hyphen", failure.Content))
		case twice:
			r.Add(m.line, at, strconv.Quote(name)+" is given twice")
		case class.FallsBack() != removed:
			r.Add(m.line, at, map[bool]string{false: "falls back anyway; -" + name + " removes it", true: "does not fall back anyway"}[removed])
		default:
			on[class] = !removed
		}
	}
	if len(on) == 0 {
		return nil
	}
	return on
}
