package contracttest

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// deliveries returns what the test sets, and keeps the last call.
type deliveries struct {
	heard heard
	lease *contract.DeliveriesLease
	err   error
}

func (d *deliveries) LeaseDeliveries(_ context.Context, q contract.LeaseDeliveries) (*contract.DeliveriesLease, error) {
	d.heard = heard{"LeaseDeliveries", []any{q}}
	return d.lease, d.err
}

func (d *deliveries) SaveDeliveries(_ context.Context, s contract.SaveDeliveries) error {
	d.heard = heard{"SaveDeliveries", []any{s}}
	return d.err
}

// Deliveries runs the suite. connect returns a client of what it is given.
func Deliveries(t *testing.T, connect func(*testing.T, contract.Deliveries) contract.Deliveries) {
	t.Helper()
	t.Run("leases and tries arrive whole", func(t *testing.T) {
		t.Parallel()
		leasesAndTries(t, connect)
	})
	t.Run("errors keep their type", func(t *testing.T) {
		t.Parallel()
		far := &deliveries{}
		near := connect(t, far)
		for _, want := range []error{contract.ErrLeaseLost, contract.ErrUnavailable} {
			far.err = want
			_, lease := near.LeaseDeliveries(patience(t), contract.LeaseDeliveries{})
			for i, err := range []error{lease, near.SaveDeliveries(patience(t), contract.SaveDeliveries{})} {
				if !errors.Is(err, want) {
					t.Errorf("%d: got %v, want %v", i, err, want)
				}
			}
		}
	})
}

// leasesAndTries hold that leases of webhooks and tries arrive whole, the largest ones too.
func leasesAndTries(t *testing.T, connect func(*testing.T, contract.Deliveries) contract.Deliveries) {
	t.Helper()
	far := &deliveries{}
	near := connect(t, far)
	lease := contract.WebhookLease{Account: account, Webhook: prism.WebhookID{UUID: prism.UUID{0xf3, 15: 8}}, Token: prism.UUID{9}}
	id := prism.DeliveryID{UUID: prism.UUID{0xf4, 15: 9}}
	for _, far.lease = range []*contract.DeliveriesLease{
		nil,
		{WebhookLease: lease, URL: "https://example.com/" + odd, Secrets: [][]byte{{0, 0xff}, {1}}, Deliveries: []contract.Delivery{{ID: id, Body: []byte(odd)}}},
		{WebhookLease: lease, Secrets: [][]byte{{}}, Deliveries: []contract.Delivery{{ID: id, Body: bytes.Repeat([]byte{'"'}, contract.LeasedDeliveryBytes)}}},
	} {
		for _, q := range []contract.LeaseDeliveries{{}, {Healthy: true}} {
			got, err := near.LeaseDeliveries(patience(t), q)
			if err != nil || !reflect.DeepEqual(got, far.lease) {
				t.Errorf("a lease did not arrive whole: %.1000v, %v", got, err)
			}
			if want := (heard{"LeaseDeliveries", []any{q}}); !reflect.DeepEqual(far.heard, want) {
				t.Errorf("heard %+v\nwant  %+v", far.heard, want)
			}
		}
	}
	full := contract.SaveDeliveries{WebhookLease: lease}
	for range contract.LeasedDeliveries {
		full.Tries = append(full.Tries, contract.DeliveryTry{
			ID: id, At: at, TookMS: contract.DeliveryWait.Milliseconds(), Status: 500, Error: api.TryStatus,
			Answer: new(strings.Repeat("\x01", contract.DeliveryAnswer)),
		})
	}
	for _, s := range []contract.SaveDeliveries{
		full,
		{WebhookLease: lease, Tries: []contract.DeliveryTry{}},
		{WebhookLease: lease, Tries: []contract.DeliveryTry{{ID: id, At: at, TookMS: 1, Status: 204, Answer: new("")}, {ID: id, At: at, Error: api.TryTLS}}},
	} {
		if err := near.SaveDeliveries(patience(t), s); err != nil {
			t.Error(err)
		}
		if want := (heard{"SaveDeliveries", []any{s}}); !reflect.DeepEqual(far.heard, want) {
			t.Errorf("%d tries did not arrive whole: heard %.1000v", len(s.Tries), far.heard)
		}
	}
}
