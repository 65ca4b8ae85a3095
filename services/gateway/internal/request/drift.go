package request

import (
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// ParseDrift reads GET /v1/prisms/{prism}/drift?version (spec: drift-read). Version 0 is the latest.
func ParseDrift(prismParam string, q Query) (prism.Ref, int32, error) {
	var r reader
	ref := r.prismParam(prismParam)
	version := r.versionQuery(q)
	return ref, version, r.err()
}

var (
	periodShape = &shape{members: members("from", "to")}
	driftShape  = &shape{members: append(members("watched", "version"), member{"reference", periodShape})}
)

// ParseDriftChange reads PUT /v1/prisms/{prism}/drift {watched, version?, reference?: {from, to} | null} (spec: drift-set).
func ParseDriftChange(prismParam string, body Body) (prism.Ref, contract.DriftChange, error) {
	sent, err := parseBody(body, driftShape)
	if err != nil {
		return prism.Ref{}, contract.DriftChange{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	var c contract.DriftChange
	if r.is(sent, kindObject) {
		r.driftChange(&c, sent)
	}
	return ref, c, r.err()
}

func (r *reader) driftChange(c *contract.DriftChange, body item) {
	watched, version, reference := body.at("watched"), body.at("version"), body.at("reference")
	isBoolean := r.is(watched, kindBoolean)
	c.Watched = isBoolean && watched.text[0] == 't'
	c.Version = r.optionalVersion(version)
	if !reference.given() || !r.is(reference, kindObject) {
		return
	}
	from, to := r.hour(reference.at("from")), r.hour(reference.at("to"))
	if from != nil && to != nil && !from.Before(*to) {
		r.add("reference.from", textBeforeTo)
	}
	if from != nil && to != nil {
		c.Reference = &contract.DriftPeriod{From: *from, To: *to}
		if isBoolean && !c.Watched {
			r.add("reference", textNotWatched)
		}
	}
}

// hour reads a whole hour. It is nil if there is a problem.
func (r *reader) hour(it item) *time.Time {
	if !it.given() {
		r.is(it, kindString)
		return nil
	}
	at := r.optionalDatetime(it)
	if at != nil && !at.Equal(at.Truncate(time.Hour)) {
		r.add(it.path, textHour)
		return nil
	}
	return at
}
