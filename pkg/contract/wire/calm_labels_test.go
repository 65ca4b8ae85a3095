package wire_test

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (calm) PutLabels(context.Context, contract.KeyDigest, prism.ResultID, contract.NewLabels) (contract.Response, error) {
	return page, nil
}

func (calm) ResultLabels(context.Context, contract.KeyDigest, prism.ResultID) (contract.Response, error) {
	return page, nil
}

func (calm) AddLabels(context.Context, contract.KeyDigest, prism.Ref, contract.ManyLabels) (contract.Response, error) {
	return page, nil
}

func (calm) ListLabels(context.Context, contract.KeyDigest, prism.Ref, contract.LabelList) (contract.Response, error) {
	return page, nil
}

func (calm) LabelQueue(context.Context, contract.KeyDigest, prism.Ref, contract.LabelQueue) (contract.Response, error) {
	return page, nil
}
