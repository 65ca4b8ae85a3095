package operator

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

func (c *cluster) newWebhook() *v1alpha1.PrismWebhook {
	c.t.Helper()
	o := &v1alpha1.PrismWebhook{ObjectMeta: metav1.ObjectMeta{Name: "hook", Namespace: inTeam}, Spec: v1alpha1.PrismWebhookSpec{
		Account: "acme", SecretName: "hook-secret", Webhook: v1alpha1.Webhook{URL: "https://example.com/hook", Events: []string{"run.started", "result.created"}},
	}}
	c.create(o)
	return o
}

func (c *cluster) webhooks() (all []client.Webhook) {
	c.t.Helper()
	for w, err := range c.owner().Webhooks(c.t.Context()) {
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}

// signed checks that Prism has one webhook, and the Secret what Prism signs with.
func (c *cluster) signed(o *v1alpha1.PrismWebhook) {
	c.t.Helper()
	if all := c.webhooks(); len(all) != 1 || all[0].ID != o.Status.ID || o.Status.Pending != nil {
		c.t.Errorf("Prism has %+v, the status %+v", all, o.Status)
	}
	s := c.secret("hook-secret")
	c.secrets.mu.Lock()
	defer c.secrets.mu.Unlock()
	if s == nil || string(s.Data[webhookSecretData]) != c.secrets.last[o.Status.ID] || !metav1.IsControlledBy(s, o) {
		c.t.Errorf("the Secret is %v, and Prism signs with another one", s)
	}
}

// spec: declared-webhooks, declared-namespaces
func TestWebhooks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, c *cluster, o *v1alpha1.PrismWebhook)
	}{
		{"a webhook is made once, with its secret in a Secret", func(_ *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			steps := c.steps.n
			c.settle(o)
			c.signed(o)
			if condition(o, v1alpha1.Ready) != "True Synced" || c.steps.n != steps {
				c.t.Errorf("%+v after %d steps more", o.Status, c.steps.n-steps)
			}
		}},
		{"a changed spec changes it and keeps the secret", func(_ *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			before := string(c.secret("hook-secret").Data[webhookSecretData])
			change(c, o, func(o *v1alpha1.PrismWebhook) { o.Spec.URL, o.Spec.Answers = "https://example.com/other", new(true) })
			c.settle(o)
			c.signed(o)
			if w := c.webhooks()[0]; w.URL != "https://example.com/other" || !w.Answers || string(c.secret("hook-secret").Data[webhookSecretData]) != before {
				c.t.Errorf("it is %+v", w)
			}
		}},
		{"a Secret whose content somebody changed gets another secret", func(t *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			s := c.secret("hook-secret")
			s.Data[webhookSecretData], s.Labels = []byte("theirs"), nil
			if err := c.Update(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			c.signed(o)
			s = c.secret("hook-secret")
			if s.Labels = nil; c.Update(t.Context(), s) != nil {
				t.Fatal("the label stays")
			}
			c.settle(o)
			if is := c.secret("hook-secret"); is.Labels[managedByLabel] != managedBy || string(is.Data[webhookSecretData]) != string(s.Data[webhookSecretData]) {
				t.Errorf("the Secret is %v", is)
			}
		}},
		{"what somebody else changed is undone", func(t *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			other := client.NewWebhook{URL: "https://example.com/theirs", Events: []client.EventType{client.EventDriftAlarm}}
			if _, err := c.owner().ReplaceWebhook(t.Context(), o.Status.ID, other); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if w := c.webhooks()[0]; w.URL != "https://example.com/hook" || len(w.Events) != 2 {
				t.Errorf("it is %+v", w)
			}
			if got := condition(o, v1alpha1.Drifted); got != "False Overwritten" {
				t.Errorf("Drifted is %q", got)
			}
			c.settle(o)
			change(c, o, func(o *v1alpha1.PrismWebhook) { o.Spec.URL = "https://example.com/own" })
			c.settle(o)
			if got := condition(o, v1alpha1.Drifted); got != "False InSync" {
				t.Errorf("after a change of its own Drifted is %q", got)
			}
		}},
		{"a webhook that somebody deleted comes back", func(t *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			if err := c.owner().DeleteWebhook(t.Context(), o.Status.ID); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if got := condition(o, v1alpha1.Drifted); got != "False Overwritten" {
				t.Errorf("Drifted is %q", got)
			}
			c.signed(o)
		}},
		{"a Secret that was deleted comes back with another secret", func(t *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			was := string(c.secret("hook-secret").Data[webhookSecretData])
			if err := c.Delete(t.Context(), c.secret("hook-secret")); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			c.signed(o)
			if string(c.secret("hook-secret").Data[webhookSecretData]) == was {
				t.Error("the secret is the same")
			}
		}},
		{"a deleted object has no webhook, also in a namespace that is no longer allowed", func(t *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			change(c, c.account, func(a *v1alpha1.PrismAccount) { a.Spec.AllowedNamespaces = nil })
			c.settle(o)
			if condition(o, v1alpha1.Ready) != "False NotAllowed" {
				t.Errorf("%+v", o.Status)
			}
			if err := c.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			c.settle(o)
			if c.reread(o) || len(c.webhooks()) != 0 {
				t.Errorf("the object or %+v are left", c.webhooks())
			}
		}},
		{"what Prism refuses is told in its words", func(_ *testing.T, c *cluster, o *v1alpha1.PrismWebhook) {
			change(c, o, func(o *v1alpha1.PrismWebhook) { o.Spec.URL = "ftp://example.com" })
			c.settle(o)
			if condition(o, v1alpha1.Synced) != "False Invalid" || condition(o, v1alpha1.Ready) != "True Synced" {
				c.t.Errorf("%+v", o.Status)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			o := c.newWebhook()
			c.settle(o)
			test.run(t, c, o)
		})
	}
}

// spec: declared-webhooks
func TestNoWebhookIsDoubledWhenTheOperatorIsKilled(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for fail := 1; ; fail++ {
				c := newCluster(t)
				o := c.newWebhook()
				before := c.steps.n
				c.steps.fail, c.steps.late = before+fail, late
				_, _ = c.reconcile(t.Context(), o)
				done := c.steps.n-before < fail
				c.settle(o)
				c.signed(o)
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

// spec: declared-webhooks
func TestTwoOperatorsAtOnceMakeOneWebhook(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	o := c.newWebhook()
	c.reconcileByTwo(o)
	c.settle(o)
	c.offset = time.Minute
	c.settle(o)
	c.signed(o)
}
