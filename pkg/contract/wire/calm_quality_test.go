package wire_test

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (calm) Quality(context.Context, contract.KeyDigest, contract.VersionRef, contract.QualityQuery) (contract.Response, error) {
	return page, nil
}

func (calm) Thresholds(
	context.Context, contract.KeyDigest, contract.VersionRef, contract.ThresholdsQuery,
) (contract.Response, error) {
	return page, nil
}

func (calm) Compare(context.Context, contract.KeyDigest, prism.Ref, contract.CompareQuery) (contract.Response, error) {
	return page, nil
}
