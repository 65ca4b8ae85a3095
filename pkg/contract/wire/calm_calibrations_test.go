package wire_test

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (calm) CreateCalibration(
	context.Context, contract.KeyDigest, contract.VersionRef, contract.NewCalibration,
) (contract.Response, error) {
	return page, nil
}

func (calm) ListCalibrations(
	context.Context, contract.KeyDigest, contract.VersionRef, contract.CalibrationList,
) (contract.Response, error) {
	return page, nil
}

func (calm) Calibration(
	context.Context, contract.KeyDigest, contract.VersionRef, prism.CalibrationID,
) (contract.Response, error) {
	return page, nil
}

func (calm) PinCalibrations(
	context.Context, contract.KeyDigest, contract.VersionRef, []contract.CalibrationPin,
) (contract.Response, error) {
	return page, nil
}

func (calm) PinnedCalibrations(context.Context, contract.KeyDigest, contract.VersionRef) (contract.Response, error) {
	return page, nil
}
