package wire_test

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (calm) ReadDrift(context.Context, contract.KeyDigest, prism.Ref, int32) (contract.Response, error) {
	return page, nil
}

func (calm) SetDrift(context.Context, contract.KeyDigest, prism.Ref, contract.DriftChange) (contract.Response, error) {
	return page, nil
}
