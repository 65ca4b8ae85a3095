package wire_test

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func (calm) AddMember(context.Context, contract.KeyDigest, contract.NewMember) (contract.Response, error) {
	return page, nil
}

func (calm) ListMembers(context.Context, contract.KeyDigest, contract.Page) (contract.Response, error) {
	return page, nil
}

func (calm) ChangeMember(context.Context, contract.KeyDigest, prism.MemberID, contract.MemberChange) (contract.Response, error) {
	return page, nil
}

func (calm) RemoveMember(context.Context, contract.KeyDigest, prism.MemberID) (contract.Response, error) {
	return page, nil
}

func (calm) LinkMember(context.Context, contract.KeyDigest, prism.MemberID) (contract.Response, error) {
	return page, nil
}
