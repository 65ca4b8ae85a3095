package contracttest

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (r *results) CreateCalibration(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef, n contract.NewCalibration,
) (contract.Response, error) {
	return r.hear("CreateCalibration", key, of, n)
}

func (r *results) ListCalibrations(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef, q contract.CalibrationList,
) (contract.Response, error) {
	return r.hear("ListCalibrations", key, of, q)
}

func (r *results) Calibration(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef, id prism.CalibrationID,
) (contract.Response, error) {
	return r.hear("Calibration", key, of, id)
}

func (r *results) PinCalibrations(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef, pins []contract.CalibrationPin,
) (contract.Response, error) {
	return r.hear("PinCalibrations", key, of, pins)
}

func (r *results) PinnedCalibrations(
	_ context.Context, key contract.KeyDigest, of contract.VersionRef,
) (contract.Response, error) {
	return r.hear("PinnedCalibrations", key, of)
}

var calibrationID = prism.CalibrationID{UUID: prism.UUID{0xab, 15: 7}}

// calibrations is a call of each method of contract.Calibrations, and of each that takes a Lens with a calibrated column.
func calibrations() []called {
	of := contract.VersionRef{Prism: prism.Ref{Slug: odd}, Number: 3}
	l := prism.Lens{Columns: []prism.Column{{Name: "is", Question: "is", Show: prism.ShowAnswer, Calibrated: true}}}
	version := contract.NewVersion{Definition: prism.Definition{Fields: []prism.Field{}, Questions: []prism.Question{}}, Lens: &l}
	return []called{
		{"CreatePrism", []any{digest, contract.NewPrism{Slug: odd, NewVersion: version}}},
		{"AddVersion", []any{digest, of.Prism, version}},
		{"PutLens", []any{digest, of.Prism, contract.NewLens{Lens: l, DryRun: true}}},
		{"PreviewLens", []any{digest, of.Prism, contract.LensPreview{Lens: l, Results: []prism.ResultID{}}}},
		{"FinishTry", []any{contract.Try{
			Account: account, Key: keyID, Definition: version.Definition, Lens: &l, Outcome: contract.Outcome{Answers: []byte(`{}`)},
		}}},
		{"CreateCalibration", []any{digest, of, contract.NewCalibration{Question: odd, Method: contract.PlattCalibration}}},
		{"ListCalibrations", []any{digest, of, contract.CalibrationList{Question: odd, Page: contract.Page{Limit: 7, Cursor: "c"}}}},
		{"Calibration", []any{digest, of, calibrationID}},
		{"PinCalibrations", []any{digest, of, []contract.CalibrationPin{{Question: odd, Calibration: calibrationID}, {Question: "b"}}}},
		{"PinnedCalibrations", []any{digest, of}},
	}
}
