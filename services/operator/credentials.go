package operator

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// credentials are Accounts whose keys results makes (spec: operator-token). A key is only in memory, and made anew before it ends.
type credentials struct {
	declarations contract.Declarations
	url          string // of the public API, for the operator's own calls
	transport    http.RoundTripper
	now          func() time.Time

	mu      sync.Mutex
	clients map[contract.OperatorKey]*credential
}

// credential is a client with a key. until is when another one takes its place.
type credential struct {
	client *client.Client
	until  time.Time
}

// declaredFor is how long a key is used: another one is made long before it ends.
const declaredFor = contract.OperatorKeyTime / 2

// NewAccounts makes Accounts. transport is http.DefaultTransport if nil.
func NewAccounts(d contract.Declarations, url string, transport http.RoundTripper) Accounts {
	return newCredentials(d, url, transport, time.Now)
}

func newCredentials(d contract.Declarations, url string, transport http.RoundTripper, now func() time.Time) *credentials {
	if transport == nil {
		transport = http.DefaultTransport //nolint:forbidigo // each client has bounds of its own
	}
	return &credentials{declarations: d, url: url, transport: transport, now: now, clients: map[contract.OperatorKey]*credential{}}
}

// Client implements Accounts.
func (c *credentials) Client(ctx context.Context, account *v1alpha1.PrismAccount, role prism.Role) (*client.Client, error) {
	id, err := accountID(account)
	if err != nil {
		return nil, err
	}
	wanted := contract.OperatorKey{Account: id, Role: role}
	if known := c.find(wanted); known != nil {
		return known.client, nil
	}
	made := &credential{until: c.now().Add(declaredFor)}
	key, err := c.declarations.OperatorKey(ctx, wanted)
	if err != nil {
		return nil, declared(err)
	}
	made.client, err = client.New(client.Config{
		URL: c.url, Key: key.Key,
		Transport: refused{c.transport, func() { c.forget(wanted, made) }},
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients[wanted] = made
	return made.client, nil
}

func (c *credentials) find(of contract.OperatorKey) *credential {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.clients[of]; known != nil && c.now().Before(known.until) {
		return known
	}
	return nil
}

func (c *credentials) forget(of contract.OperatorKey, is *credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clients[of] == is {
		delete(c.clients, of)
	}
}

// refused calls forget when the key is refused, as after a restore of the database.
type refused struct {
	http.RoundTripper
	forget func()
}

// RoundTrip implements http.RoundTripper.
func (r refused) RoundTrip(q *http.Request) (*http.Response, error) {
	a, err := r.RoundTripper.RoundTrip(q)
	if err == nil && a.StatusCode == http.StatusUnauthorized {
		r.forget()
	}
	return a, err
}

// accountID is the id of an account that Prism has.
func accountID(account *v1alpha1.PrismAccount) (prism.AccountID, error) {
	id, err := prism.ParseUUID(account.Status.ID)
	if err != nil {
		return prism.AccountID{}, noAccount("the PrismAccount %s is not ready yet", account.Name)
	}
	return prism.AccountID{UUID: id}, nil
}

// declared is an error of contract.Declarations as a problem.
func declared(err error) error {
	var (
		why    contract.DeclareError
		refuse *apierr.Error
		later  *apierr.RetryAfterError
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, contract.ErrNotDeclared):
		return noAccount("Prism does not have the account (yet)")
	case errors.As(err, &why):
		return &Problem{Reason: v1alpha1.ReasonInvalid, Text: string(why), Unusable: true}
	case errors.Is(err, contract.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return &Problem{Reason: v1alpha1.ReasonUnavailable, Text: "results does not answer", Retry: true}
	case errors.As(err, &later):
		return &Problem{Reason: v1alpha1.ReasonUnavailable, Text: "results has no room", Retry: true, After: time.Duration(later.Seconds) * time.Second}
	case errors.As(err, &refuse) && refuse.Status == http.StatusBadRequest:
		return &Problem{Reason: v1alpha1.ReasonInvalid, Text: refuse.Message}
	case errors.As(err, &refuse):
		return &Problem{Reason: v1alpha1.ReasonFailed, Text: refuse.Message, Retry: true}
	}
	return err
}
