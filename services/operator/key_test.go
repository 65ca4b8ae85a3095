package operator

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// newKey is a PrismKey of the team that rotates every day.
func (c *cluster) newKey() *v1alpha1.PrismKey {
	c.t.Helper()
	o := &v1alpha1.PrismKey{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: inTeam}, Spec: v1alpha1.PrismKeySpec{
		Account: "acme", Role: "caller", SecretName: "app-key", RotateEvery: &metav1.Duration{Duration: 24 * time.Hour},
		Overlap: &metav1.Duration{Duration: time.Hour},
	}}
	c.create(o)
	return o
}

func (c *cluster) text() string {
	c.t.Helper()
	s := c.secret("app-key")
	if s == nil {
		c.t.Fatal("there is no Secret")
	}
	return string(s.Data[keyData])
}

// whole checks that the account has the key of the Secret and no other.
func (c *cluster) whole(o *v1alpha1.PrismKey) {
	c.t.Helper()
	if active := c.active(); !slices.Equal(active, []string{o.Status.KeyID}) {
		c.t.Errorf("the account has the keys %v, the status %+v", active, o.Status)
	}
	if s := c.secret("app-key"); s == nil || s.Annotations[keyIDAnnotation] != o.Status.KeyID || string(s.Data[urlData]) != c.cfg.URL || !c.works(string(s.Data[keyData])) {
		c.t.Errorf("the Secret is %v, the status %+v", s, o.Status)
	}
	if len(o.Status.Replaced) > 0 || o.Status.PendingKeyID != "" {
		c.t.Errorf("something is left: %+v", o.Status)
	}
}

// spec: declared-keys
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, c *cluster, o *v1alpha1.PrismKey)
	}{
		{"a key is made once and put into a Secret of the object", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			before := c.text()
			c.settle(o)
			c.whole(o)
			if s := c.secret("app-key"); c.text() != before || !metav1.IsControlledBy(s, o) {
				t.Errorf("the Secret is %v", s)
			}
			if condition(o, v1alpha1.Ready) != "True Synced" || condition(o, v1alpha1.Synced) != "True Synced" {
				t.Errorf("the conditions are %+v", o.Status.Conditions)
			}
		}},
		{"a rotated key and the one before are both valid, until the overlap is over", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			first := c.text()
			c.offset = 24 * time.Hour
			c.settle(o)
			second := c.text()
			if first == second || !c.works(first) || !c.works(second) {
				t.Error("the keys do not overlap")
			}
			c.offset += time.Hour
			c.settle(o)
			if c.works(first) || c.text() != second {
				t.Error("the first key is still valid")
			}
			c.whole(o)
		}},
		{"a Secret that was deleted comes back with another key, and the one before is revoked", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			first := c.text()
			if err := c.Delete(t.Context(), c.secret("app-key")); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if c.text() == first || c.works(first) {
				t.Error("the first key is still valid")
			}
			c.whole(o)
		}},
		{"a Secret whose key somebody changed gets another key, and the one before ends after the overlap", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			first, s := c.text(), c.secret("app-key")
			s.Data[keyData] = []byte("theirs")
			if err := c.Update(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if now := c.text(); now == first || !c.works(now) || !c.works(first) {
				t.Errorf("the Secret has %q", now)
			}
			c.offset = time.Hour
			c.settle(o)
			c.whole(o)
		}},
		{"a Secret without its label gets it back, and keeps the key", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			key, s := c.text(), c.secret("app-key")
			s.Labels = map[string]string{"theirs": "too"}
			if err := c.Update(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if s := c.secret("app-key"); s.Labels[managedByLabel] != managedBy || s.Labels["theirs"] != "too" || c.text() != key {
				t.Errorf("the Secret is %v", s)
			}
		}},
		{"another role makes another key", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			change(c, o, func(o *v1alpha1.PrismKey) { o.Spec.Role = "editor" })
			c.settle(o)
			c.offset = time.Hour
			c.settle(o)
			c.whole(o)
		}},
		{"another address of Prism is put into the Secret", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			was, key := c.cfg.URL, c.text()
			c.cfg.URL += "/"
			c.settle(o)
			if s := c.secret("app-key"); string(s.Data[urlData]) != was+"/" || c.text() != key {
				t.Errorf("the Secret has %s", s.Data[urlData])
			}
		}},
		{"a namespace that is no longer allowed loses its keys, and gets another when it is", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			change(c, c.account, func(a *v1alpha1.PrismAccount) { a.Spec.AllowedNamespaces = nil })
			c.settle(o)
			if condition(o, v1alpha1.Ready) != "False NotAllowed" || len(c.active()) != 0 {
				t.Errorf("%+v, and the keys %v", o.Status, c.active())
			}
			change(c, c.account, func(a *v1alpha1.PrismAccount) { a.Spec.AllowedNamespaces = []v1alpha1.NamespaceName{inTeam} })
			c.settle(o)
			c.whole(o)
		}},
		{"keys stay when the PrismAccount goes", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			if err := c.Delete(t.Context(), c.account.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if condition(o, v1alpha1.Synced) != "False NotAllowed" || !c.works(c.text()) {
				t.Errorf("%+v", o.Status)
			}
		}},
		{"the keys of a deleted object are revoked", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			c.offset = 24 * time.Hour // two keys
			c.settle(o)
			if err := c.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if c.reread(o) || len(c.active()) != 0 {
				t.Errorf("the object or the keys %v are left", c.active())
			}
		}},
		{"a deleted object goes though Prism is away", func(t *testing.T, c *cluster, o *v1alpha1.PrismKey) {
			if err := c.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			c.reread(o)
			for _, c.offset = range []time.Duration{0, abandonAfter + time.Minute} {
				c.steps.fail, c.steps.with = c.steps.n+2, contract.ErrUnavailable // the first one is the status
				_, _ = c.reconcile(t.Context(), o)
			}
			if c.reread(o) {
				t.Errorf("the object is left: %+v", o)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			o := c.newKey()
			c.settle(o)
			test.run(t, c, o)
		})
	}
}

// spec: declared-keys, declared-namespaces
func TestKeysThatAreNotMade(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(c *cluster, o *v1alpha1.PrismKey)
		ready  string
	}{
		{"in a namespace that the account does not list", func(_ *cluster, o *v1alpha1.PrismKey) { o.Namespace = "other" }, "False NotAllowed"},
		{"of an account that is not there", func(_ *cluster, o *v1alpha1.PrismKey) { o.Spec.Account = "nobody" }, "False NotAllowed"},
		{"of an owner, if the API server let it through", func(_ *cluster, o *v1alpha1.PrismKey) { o.Spec.Role = "owner" }, "False Invalid"},
		{"into a Secret of somebody else", func(c *cluster, _ *v1alpha1.PrismKey) {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-key", Namespace: inTeam}, Data: map[string][]byte{keyData: []byte("mine")}}
			c.create(s)
		}, "False Invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			o := &v1alpha1.PrismKey{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: inTeam}, Spec: v1alpha1.PrismKeySpec{
				Account: "acme", Role: "caller", SecretName: "app-key",
			}}
			test.change(c, o)
			c.create(o)
			_, _ = c.reconcile(t.Context(), o)
			c.reread(o)
			if condition(o, v1alpha1.Ready) != test.ready || len(c.active()) != 0 {
				t.Errorf("the conditions are %+v, the keys %v", o.Status.Conditions, c.active())
			}
			if s := c.secret("app-key"); s != nil && string(s.Data[keyData]) != "mine" {
				t.Errorf("the Secret is %v", s)
			}
		})
	}
}

// spec: declared-keys
func TestAKeyEnds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	o := c.newKey()
	change(c, o, func(o *v1alpha1.PrismKey) {
		o.Spec.RotateEvery, o.Spec.ExpiresIn = nil, &metav1.Duration{Duration: time.Hour}
	})
	c.settle(o)
	if ends := o.Status.ExpiresAt; ends == nil || time.Until(ends.Time) > time.Hour || time.Until(ends.Time) < time.Hour/2 {
		t.Fatalf("it ends at %v", ends)
	}
	c.offset = 2 * time.Hour
	c.settle(o)
	if condition(o, v1alpha1.Ready) != "False Expired" {
		t.Errorf("the conditions are %+v", o.Status.Conditions)
	}
}

// The operator is killed before and after each thing that it does, at the making of a key, at a rotation and after the deletion of the Secret;
// another one takes over. No key is lost and none is left.
//
// spec: declared-keys
func TestNoKeyIsLostWhenTheOperatorIsKilled(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(c *cluster, o *v1alpha1.PrismKey){
		"first":    func(*cluster, *v1alpha1.PrismKey) {},
		"rotation": func(c *cluster, o *v1alpha1.PrismKey) { c.settle(o); c.offset = 24 * time.Hour },
		"deletion of the Secret": func(c *cluster, o *v1alpha1.PrismKey) {
			c.settle(o)
			if err := c.Delete(c.t.Context(), c.secret("app-key")); err != nil {
				c.t.Fatal(err)
			}
		},
	} {
		for _, late := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for fail := 1; ; fail++ {
					c := newCluster(t)
					o := c.newKey()
					begin(c, o)
					before := c.steps.n
					c.steps.fail, c.steps.late = before+fail, late
					_, err := c.reconcile(t.Context(), o)
					done := c.steps.n-before < fail
					if !done && err == nil && !strings.Contains(name, "rotation") {
						t.Errorf("step %d failed and nothing was told", fail)
					}
					c.settle(o)
					c.offset += time.Hour + time.Second // the overlap
					c.settle(o)
					c.whole(o)
					if t.Failed() {
						t.Fatalf("step %d, late %v", fail, late)
					}
					if done {
						if fail < 4 {
							t.Errorf("there are only %d steps", fail-1)
						}
						return
					}
				}
			})
		}
	}
}

// spec: declared-keys
func TestTwoOperatorsAtOnceLoseNoKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	o := c.newKey()
	for round := range 5 {
		c.offset = time.Duration(round) * 25 * time.Hour
		c.reconcileByTwo(o)
		c.settle(o)
		if !c.works(c.text()) {
			t.Fatalf("round %d: the key of the Secret does not work: %+v", round, o.Status)
		}
	}
	c.offset += time.Hour + time.Second
	c.settle(o)
	c.whole(o)
}

// spec: operator-patience
func TestAnOperatorWaitsForPrism(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	o := c.newKey()
	c.steps.fail, c.steps.with = c.steps.n+2, contract.ErrUnavailable // the key; the first step is the status
	if _, err := c.reconcile(t.Context(), o); err == nil {
		t.Error("the queue is not told to wait")
	}
	c.reread(o)
	if condition(o, v1alpha1.Synced) != "False Unavailable" {
		t.Errorf("the conditions are %+v", o.Status.Conditions)
	}
	c.settle(o)
	c.whole(o)
}
