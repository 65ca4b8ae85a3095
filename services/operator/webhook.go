package operator

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

const (
	webhookSecretData   = "PRISM_WEBHOOK_SECRET" //nolint:gosec // the name of it
	webhookIDAnnotation = "prism.dev/webhook-id"
	// clocks is how far those of results and of the operator may be apart.
	clocks = 5 * time.Minute
)

// webhooks is the controller of PrismWebhook (spec: declared-webhooks).
//
//	status.pending ──▶ webhook made or found, or its secret rotated ──▶ Secret has it ──▶ status.id, and nothing is pending
//
// While something is pending, the secret may have been lost. Then the webhook that was made since, and that no other object has, is found
// by what it sends, and gets another secret. Each try first writes its number into the status, so of two operators at once only the last
// one can end with nothing pending.
type webhooks struct{ *base }

// Sync implements Kind.
func (k *webhooks) Sync(ctx context.Context, o *v1alpha1.PrismWebhook) (time.Duration, error) {
	account, err := k.account(ctx, o)
	if err != nil {
		return 0, err
	}
	c, err := k.accounts.Client(ctx, account, prism.Owner) // webhooks are owners'
	if err != nil {
		return 0, err
	}
	wanted, err := webhookOf(o)
	if err != nil {
		return 0, err
	}
	secret, err := k.secretOf(ctx, o, o.Spec.SecretName)
	if err != nil {
		return 0, err
	}
	now, err := k.find(ctx, c, o)
	if err != nil {
		return 0, err
	}
	theirs := now == nil && o.Status.ID != ""
	if now == nil || o.Status.Pending != nil || !intact(secret, webhookSecretData) || secret.Annotations[webhookIDAnnotation] != o.Status.ID {
		if now, err = k.establish(ctx, c, o, secret, wanted, now); err != nil {
			return 0, err
		}
	} else if !labelled(secret) {
		if err := k.writeSecret(ctx, o, secret, webhookSecretData); err != nil {
			return 0, err
		}
	}
	if now.DisabledReason != nil && o.Status.ObservedGeneration == o.Generation {
		return 0, &Problem{
			Reason: "Disabled", Unusable: true,
			Text: "Prism has disabled the webhook: " + string(*now.DisabledReason) + ". Change the spec or the receiver, and enable the webhook in Prism",
		}
	}
	if !same(*now, wanted) {
		synced := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Synced)
		theirs = theirs || synced != nil && synced.Status == metav1.ConditionTrue && synced.ObservedGeneration == o.Generation
		if _, err := c.ReplaceWebhook(ctx, now.ID, wanted); err != nil {
			return 0, err
		}
	}
	reason, note := v1alpha1.ReasonInSync, untouched
	if theirs {
		reason, note = v1alpha1.ReasonOverwritten, "Somebody else changed or deleted the webhook in Prism; that was undone"
	}
	k.set(o, v1alpha1.Drifted, metav1.ConditionFalse, reason, note)
	return 0, nil
}

// webhookOf is the spec as the API has it.
func webhookOf(o *v1alpha1.PrismWebhook) (w client.NewWebhook, err error) {
	text, err := json.Marshal(o.Spec.Webhook)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return w, &Problem{Reason: v1alpha1.ReasonInvalid, Text: err.Error()}
	}
	return w, nil
}

// same tells whether a webhook is as wanted.
func same(w client.Webhook, wanted client.NewWebhook) bool {
	is := client.NewWebhook{
		URL: w.URL, Events: w.Events, Prisms: w.Prisms, Condition: w.Condition, Answers: w.Answers, RunRows: w.RunRows, Enabled: wanted.Enabled,
	}
	if w.Status != nil {
		is.Status = *w.Status
	}
	enabled := wanted.Enabled == nil || *wanted.Enabled
	for _, list := range []*client.NewWebhook{&is, &wanted} { // the order says nothing
		list.Events, list.Prisms = slices.Sorted(slices.Values(list.Events)), slices.Sorted(slices.Values(list.Prisms))
	}
	return w.Enabled == enabled && reflect.DeepEqual(is, wanted)
}

// find is the webhook of the object; nil if Prism has none.
func (k *webhooks) find(ctx context.Context, c *client.Client, o *v1alpha1.PrismWebhook) (*client.Webhook, error) {
	if o.Status.ID == "" {
		return nil, nil
	}
	w, err := c.ReadWebhook(ctx, o.Status.ID)
	if errors.Is(err, client.ErrNotFound) {
		return nil, nil
	}
	return &w, err
}

// establish makes the webhook, or another secret of it, and puts the secret into the Secret.
func (k *webhooks) establish(
	ctx context.Context, c *client.Client, o *v1alpha1.PrismWebhook, s *corev1.Secret, wanted client.NewWebhook, now *client.Webhook,
) (*client.Webhook, error) {
	if o.Status.Pending == nil {
		o.Status.Pending = &v1alpha1.PendingWebhook{Since: metav1.NewTime(k.now())}
	}
	o.Status.Pending.Try++
	if err := k.record(ctx, o); err != nil {
		return nil, err
	}
	made, err := k.secret(ctx, c, o, wanted, now)
	if err != nil {
		return nil, err
	}
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[webhookIDAnnotation] = made.ID
	s.Data = map[string][]byte{webhookSecretData: []byte(made.Secret.Reveal())}
	err = k.writeSecret(ctx, o, s, webhookSecretData)
	if err == nil {
		o.Status.ID, o.Status.Pending = made.ID, nil
		err = k.record(ctx, o)
	}
	if now == nil && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)) {
		// Another operator works too, and does not know of this webhook.
		if left := c.DeleteWebhook(ctx, made.ID); left != nil && !errors.Is(left, client.ErrNotFound) {
			err = errors.Join(err, left)
		}
	}
	return &made.Webhook, err
}

// secret is the webhook with a new secret: one that is there already, or else a new one.
func (k *webhooks) secret(
	ctx context.Context, c *client.Client, o *v1alpha1.PrismWebhook, wanted client.NewWebhook, now *client.Webhook,
) (client.CreatedWebhook, error) {
	if now != nil {
		return c.RotateWebhook(ctx, now.ID)
	}
	lost, err := k.lost(ctx, c, o, wanted)
	switch {
	case err != nil:
		return client.CreatedWebhook{}, err
	case len(lost) == 0:
		return c.CreateWebhook(ctx, wanted)
	}
	for _, double := range lost[1:] {
		if err := c.DeleteWebhook(ctx, double); err != nil && !errors.Is(err, client.ErrNotFound) {
			return client.CreatedWebhook{}, err
		}
	}
	return c.RotateWebhook(ctx, lost[0])
}

// lost are the ids of the webhooks that were made for the object while something was pending, oldest first.
func (k *webhooks) lost(ctx context.Context, c *client.Client, o *v1alpha1.PrismWebhook, wanted client.NewWebhook) (ids []string, err error) {
	var all v1alpha1.PrismWebhookList
	if err := k.List(ctx, &all); err != nil {
		return nil, err
	}
	for w, err := range c.Webhooks(ctx) {
		switch {
		case err != nil:
			return nil, err
		case w.CreatedAt.Before(o.Status.Pending.Since.Add(-clocks)), !same(w, wanted):
		case slices.ContainsFunc(all.Items, func(other v1alpha1.PrismWebhook) bool { return other.Status.ID == w.ID }):
		default:
			ids = append([]string{w.ID}, ids...)
		}
	}
	return ids, nil
}

// Ends implements Kind.
func (k *webhooks) Ends(*v1alpha1.PrismWebhook) bool { return true }

// End implements Kind: the webhook is deleted, also when the account no longer allows the namespace.
func (k *webhooks) End(ctx context.Context, o *v1alpha1.PrismWebhook) error {
	if o.Status.ID == "" && o.Status.Pending == nil {
		return nil
	}
	account := &v1alpha1.PrismAccount{}
	err := k.Get(ctx, kube.ObjectKey{Namespace: k.cfg.Namespace, Name: o.Spec.Account}, account)
	if apierrors.IsNotFound(err) {
		return noAccount("there is no PrismAccount %s", o.Spec.Account)
	}
	if err != nil {
		return err
	}
	c, err := k.accounts.Client(ctx, account, prism.Owner)
	if err != nil {
		return err
	}
	ids := []string{}
	if o.Status.ID != "" {
		ids = append(ids, o.Status.ID)
	}
	if o.Status.Pending != nil {
		wanted, err := webhookOf(o)
		if err != nil {
			return err
		}
		lost, err := k.lost(ctx, c, o, wanted)
		if err != nil {
			return err
		}
		ids = append(ids, lost...)
	}
	for _, id := range ids {
		if err := c.DeleteWebhook(ctx, id); err != nil && !errors.Is(err, client.ErrNotFound) {
			return err
		}
	}
	return nil
}
