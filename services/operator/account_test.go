package operator

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// spec: declared-accounts, declared-namespaces
func TestAccounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, c *cluster)
	}{
		{"limits are those of the object, and stay without them", func(t *testing.T, c *cluster) {
			for _, step := range []struct{ limits, want *v1alpha1.AccountLimits }{
				{&v1alpha1.AccountLimits{Concurrency: new(int64(4)), StoredBytes: new(int64(5000))}, &v1alpha1.AccountLimits{Concurrency: new(int64(4)), StoredBytes: new(int64(5000))}},
				{nil, &v1alpha1.AccountLimits{Concurrency: new(int64(4)), StoredBytes: new(int64(5000))}},
				{&v1alpha1.AccountLimits{ResultsPerDay: new(int64(9))}, &v1alpha1.AccountLimits{ResultsPerDay: new(int64(9)), StoredBytes: new(int64(50 << 30))}},
			} {
				change(c, c.account, func(a *v1alpha1.PrismAccount) { a.Spec.Limits = step.limits })
				c.settle(c.account)
				is, err := c.owner().ReadAccount(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got := v1alpha1.AccountLimits(is.Limits)
				for name, pair := range map[string][2]*int64{
					"requests per second": {got.RequestsPerSecond, step.want.RequestsPerSecond}, "concurrency": {got.Concurrency, step.want.Concurrency},
					"results per day": {got.ResultsPerDay, step.want.ResultsPerDay}, "stored bytes": {got.StoredBytes, step.want.StoredBytes},
				} {
					if a, b := pair[0], pair[1]; (a == nil) != (b == nil) || a != nil && *a != *b {
						t.Errorf("%s of %+v", name, is.Limits)
					}
				}
			}
		}},
		{"rules are those of the object, and members who were invited stay", func(t *testing.T, c *cluster) {
			owner := c.owner()
			if _, err := owner.AddMember(t.Context(), client.NewMember{Name: "Ada", Role: prism.Reader}); err != nil {
				t.Fatal(err)
			}
			staff := v1alpha1.AccountMember{Name: "staff", Role: "editor", Claim: &v1alpha1.MemberClaim{Name: "groups", Value: "staff"}}
			bob := v1alpha1.AccountMember{Name: "Bob", Role: "caller", Email: new("bob@example.com")}
			for _, step := range []struct {
				members []v1alpha1.AccountMember
				want    int
			}{{[]v1alpha1.AccountMember{staff, bob}, 3}, {nil, 3}, {[]v1alpha1.AccountMember{bob}, 2}} {
				change(c, c.account, func(a *v1alpha1.PrismAccount) { a.Spec.Members = step.members })
				c.settle(c.account)
				listed, err := owner.ListMembers(t.Context(), client.PageOptions{})
				if err != nil || len(listed.Data) != step.want {
					t.Errorf("the members are %+v, %v", listed.Data, err)
				}
			}
		}},
		{"an account stays when the object goes, and is found by its name", func(t *testing.T, c *cluster) {
			was := c.account.Status.ID
			if err := c.Delete(t.Context(), c.account); err != nil {
				t.Fatal(err)
			}
			again := &v1alpha1.PrismAccount{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: inRelease}, Spec: c.account.Spec}
			c.create(again)
			c.settle(again)
			if again.Status.ID != was {
				t.Errorf("it is %s, and was %s", again.Status.ID, was)
			}
		}},
		{"the second object with a name has no account", func(t *testing.T, c *cluster) {
			second := &v1alpha1.PrismAccount{ObjectMeta: metav1.ObjectMeta{Name: "second", Namespace: inRelease}, Spec: c.account.Spec}
			c.create(second)
			c.settle(second)
			c.settle(c.account)
			if condition(second, v1alpha1.Ready) != "False Invalid" || second.Status.ID != "" || condition(c.account, v1alpha1.Ready) != "True Synced" {
				t.Errorf("%+v, %+v", second.Status, c.account.Status)
			}
		}},
		{"an account that was made by hand is not taken over by its name", func(t *testing.T, c *cluster) {
			s, err := services()
			if err != nil {
				t.Fatal(err)
			}
			name := "by hand " + rand.Text()
			key, err := s.account(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			o := &v1alpha1.PrismAccount{ObjectMeta: metav1.ObjectMeta{Name: "hand", Namespace: inRelease}, Spec: v1alpha1.PrismAccountSpec{
				Name: name, Limits: &v1alpha1.AccountLimits{Concurrency: new(int64(1))},
			}}
			c.create(o)
			c.settle(o)
			if condition(o, v1alpha1.Ready) != "False Invalid" || o.Status.ID != "" {
				t.Errorf("%+v", o.Status)
			}
			hand, err := client.New(client.Config{URL: c.cfg.URL, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			if is, err := hand.ReadAccount(t.Context()); err != nil || is.Limits.Concurrency != nil {
				t.Errorf("the account is %+v, %v", is, err)
			}
		}},
		{"an object elsewhere does not count", func(_ *testing.T, c *cluster) {
			o := &v1alpha1.PrismAccount{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: inTeam}, Spec: v1alpha1.PrismAccountSpec{Name: "x"}}
			c.create(o)
			c.settle(o)
			if condition(o, v1alpha1.Ready) != "False NotAllowed" || o.Status.ID != "" {
				c.t.Errorf("%+v", o.Status)
			}
		}},
		{"what Prism refuses is told in its words", func(_ *testing.T, c *cluster) {
			o := &v1alpha1.PrismAccount{ObjectMeta: metav1.ObjectMeta{Name: "bad", Namespace: inRelease}, Spec: v1alpha1.PrismAccountSpec{Name: "\x01"}}
			c.create(o)
			c.settle(o)
			if condition(o, v1alpha1.Synced) != "False Invalid" {
				c.t.Errorf("%+v", o.Status)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, newCluster(t))
		})
	}
}

// The key of the operator is made once, anew before it ends, and anew after Prism has refused it.
//
// spec: operator-token
func TestTheOperatorsOwnKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	key := func() *client.Client {
		k, err := c.accounts.Client(t.Context(), c.account, prism.Editor)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key()
	if key() != first {
		t.Error("a second key was made at once")
	}
	c.offset = declaredFor
	second := key()
	if second == first {
		t.Error("the key is used until it ends")
	}
	if _, err := second.ListKeys(t.Context(), client.PageOptions{}); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("an editor's key lists keys: %v", err)
	}
	// As after a restore of the database, which lacks the key.
	id, err := accountID(c.account)
	if err != nil {
		t.Fatal(err)
	}
	known := c.accounts.(*credentials)
	made := &credential{until: c.now().Add(declaredFor)}
	known.clients[contract.OperatorKey{Account: id, Role: prism.Editor}] = made
	transport := refused{http.DefaultTransport, func() { known.forget(contract.OperatorKey{Account: id, Role: prism.Editor}, made) }}
	made.client, err = client.New(client.Config{URL: c.cfg.URL, Key: "prism_" + strings.Repeat("x", 38), Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := key().ReadAccount(t.Context()); !errors.Is(err, client.ErrUnauthorized) {
		t.Fatalf("the key was not refused: %v", err)
	}
	if _, err := key().ReadAccount(t.Context()); err != nil {
		t.Errorf("the key that was refused is used again: %v", err)
	}
}
