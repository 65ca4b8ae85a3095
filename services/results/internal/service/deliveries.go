package service

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
)

// LeaseDeliveries implements contract.Deliveries: there are no webhooks yet.
func (*Service) LeaseDeliveries(context.Context, contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	return nil, nil
}

// SaveDeliveries implements contract.Deliveries.
func (*Service) SaveDeliveries(context.Context, contract.SaveDeliveries) error {
	return contract.ErrLeaseLost
}
