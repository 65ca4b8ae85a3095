package operator

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// What the Secret of a key says of it beside the key.
const (
	urlData, keyData    = "PRISM_URL", "PRISM_API_KEY"
	keyIDAnnotation     = "prism.dev/key-id"
	keyRoleAnnotation   = "prism.dev/role"
	keyIssuedAnnotation = "prism.dev/issued-at"
	keyEndsAnnotation   = "prism.dev/expires-at"
)

// defaultOverlap is the overlap of a spec that has none.
const defaultOverlap = time.Hour

// keys is the controller of PrismKey (spec: declared-keys).
//
//	status.pendingKeyID = id ──▶ key made ──▶ Secret has it ──▶ status.keyID = id, and the key before is in status.replaced
//
// An id is in the status before there is a key with it, and stays there until the key is revoked, so that no key is lost. Each write of the
// status and of the Secret fails if somebody else has written there since it was read. A key is revoked only when the Secret has another,
// so two operators at once revoke none that the Secret has.
type keys struct {
	*base
	declarations contract.Declarations
}

// Sync implements Kind.
func (k *keys) Sync(ctx context.Context, o *v1alpha1.PrismKey) (time.Duration, error) {
	account, err := k.account(ctx, o)
	if err != nil {
		if p := problemOf(err); p.Reason == v1alpha1.ReasonNotAllowed && account != nil {
			err = errors.Join(k.End(ctx, o), err) // the account no longer allows the namespace
		}
		return 0, err
	}
	id, err := accountID(account)
	if err != nil {
		return 0, err
	}
	o.Status.AccountID = id.String()
	secret, err := k.secretOf(ctx, o, o.Spec.SecretName)
	if err != nil {
		return 0, err
	}
	if err := k.settle(ctx, o, secret); err != nil {
		return 0, err
	}
	if k.due(o, secret) {
		if err := k.issue(ctx, o, secret, id); err != nil {
			return 0, err
		}
	} else if string(secret.Data[urlData]) != k.cfg.URL || !labelled(secret) {
		secret.Data[urlData] = []byte(k.cfg.URL)
		if err := k.writeSecret(ctx, o, secret, keyData); err != nil {
			return 0, err
		}
	}
	if err := k.revoke(ctx, o, k.now()); err != nil {
		return 0, err
	}
	if ends := o.Status.ExpiresAt; ends != nil && !k.now().Before(ends.Time) {
		return 0, &Problem{Reason: "Expired", Text: "the key has ended, and rotateEvery says of no other", Unusable: true}
	}
	return k.next(o), nil
}

// has is the id of the key that a Secret has; "" if it has none, or another text than that of the key.
func has(s *corev1.Secret) string {
	if !intact(s, keyData) {
		return ""
	}
	return s.Annotations[keyIDAnnotation]
}

// settle takes the pending key into the status when the Secret has it.
func (k *keys) settle(ctx context.Context, o *v1alpha1.PrismKey, s *corev1.Secret) error {
	id := has(s)
	if id == "" || id != o.Status.PendingKeyID {
		return nil
	}
	k.replace(o, o.Status.KeyID, k.overlap(o))
	o.Status.KeyID, o.Status.PendingKeyID = id, ""
	o.Status.IssuedAt, o.Status.ExpiresAt = timeOf(s, keyIssuedAnnotation), timeOf(s, keyEndsAnnotation)
	return k.record(ctx, o)
}

func timeOf(s *corev1.Secret, annotation string) *metav1.Time {
	at, err := time.Parse(time.RFC3339, s.Annotations[annotation])
	if err != nil {
		return nil
	}
	return &metav1.Time{Time: at}
}

// due tells whether the Secret needs another key.
func (k *keys) due(o *v1alpha1.PrismKey, s *corev1.Secret) bool {
	id := has(s)
	if id == "" || id != o.Status.KeyID || s.Annotations[keyRoleAnnotation] != o.Spec.Role {
		return true
	}
	every, at := o.Spec.RotateEvery, o.Status.IssuedAt
	return every != nil && (at == nil || !k.now().Before(at.Add(every.Duration)))
}

// issue has a new key take the place of the one in the Secret. If the Secret was deleted, the one before ends at once.
func (k *keys) issue(ctx context.Context, o *v1alpha1.PrismKey, s *corev1.Secret, account prism.AccountID) error {
	deleted := s.ResourceVersion == "" && o.Status.KeyID != ""
	if deleted {
		k.replace(o, o.Status.KeyID, 0)
		o.Status.KeyID = ""
	}
	if o.Status.PendingKeyID == "" {
		if err := k.reserve(ctx, o); err != nil {
			return err
		}
	} else if deleted {
		if err := k.record(ctx, o); err != nil {
			return err
		}
	}
	made, err := k.make(ctx, o, account)
	if errors.Is(err, contract.ErrKeyMade) { // by an operator that was killed, or works too: the text is not known here
		k.replace(o, o.Status.PendingKeyID, k.overlap(o))
		if err := k.reserve(ctx, o); err != nil {
			return err
		}
		made, err = k.make(ctx, o, account)
	}
	if err != nil {
		return declared(err)
	}
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[keyIDAnnotation], s.Annotations[keyRoleAnnotation] = o.Status.PendingKeyID, o.Spec.Role
	s.Annotations[keyIssuedAnnotation] = k.now().UTC().Format(time.RFC3339)
	delete(s.Annotations, keyEndsAnnotation)
	if made.ExpiresAt != nil {
		s.Annotations[keyEndsAnnotation] = made.ExpiresAt.UTC().Format(time.RFC3339)
	}
	s.Data = map[string][]byte{urlData: []byte(k.cfg.URL), keyData: []byte(made.Key)}
	if err := k.writeSecret(ctx, o, s, keyData); err != nil {
		return err
	}
	return k.settle(ctx, o, s)
}

// reserve writes the id of a key into the status that does not exist yet.
func (k *keys) reserve(ctx context.Context, o *v1alpha1.PrismKey) error {
	id, err := prism.NewUUID(k.now(), rand.Reader)
	if err != nil {
		return err
	}
	o.Status.PendingKeyID = id.String()
	return k.record(ctx, o)
}

// make makes the key with the reserved id.
func (k *keys) make(ctx context.Context, o *v1alpha1.PrismKey, account prism.AccountID) (contract.DeclaredKey, error) {
	id, err := prism.ParseUUID(o.Status.PendingKeyID)
	if err != nil {
		return contract.DeclaredKey{}, err
	}
	of := contract.DeclareKey{Account: account, ID: prism.KeyID{UUID: id}, Name: name(o), Role: prism.Role(o.Spec.Role)}
	if o.Spec.ExpiresIn != nil {
		of.Seconds = int64(o.Spec.ExpiresIn.Seconds())
	}
	return k.declarations.DeclareKey(ctx, of)
}

// name is that of the key in Prism, of 200 bytes at most.
func name(o *v1alpha1.PrismKey) string {
	text := o.Namespace + "/" + o.Name
	return text[:min(len(text), 200)]
}

func (k *keys) overlap(o *v1alpha1.PrismKey) time.Duration {
	if o.Spec.Overlap == nil {
		return defaultOverlap
	}
	return o.Spec.Overlap.Duration
}

// replace notes that a key is to be revoked after a while.
func (k *keys) replace(o *v1alpha1.PrismKey, id string, after time.Duration) {
	if id != "" {
		o.Status.Replaced = append(o.Status.Replaced, v1alpha1.ReplacedKey{KeyID: id, RevokeAt: metav1.NewTime(k.now().Add(after))})
	}
}

// revoke revokes the keys that are to be revoked by a time.
func (k *keys) revoke(ctx context.Context, o *v1alpha1.PrismKey, by time.Time) error {
	left := slices.Clone(o.Status.Replaced)
	for _, r := range o.Status.Replaced {
		if r.RevokeAt.After(by) {
			continue
		}
		if err := k.withdraw(ctx, o, r.KeyID); err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(l v1alpha1.ReplacedKey) bool { return l.KeyID == r.KeyID })
	}
	if len(left) == len(o.Status.Replaced) {
		return nil
	}
	o.Status.Replaced = left
	return k.record(ctx, o)
}

func (k *keys) withdraw(ctx context.Context, o *v1alpha1.PrismKey, key string) error {
	account, err := prism.ParseUUID(o.Status.AccountID)
	if err != nil {
		return err
	}
	id, err := prism.ParseUUID(key)
	if err != nil {
		return err
	}
	err = k.declarations.WithdrawKey(ctx, contract.WithdrawKey{Account: prism.AccountID{UUID: account}, ID: prism.KeyID{UUID: id}})
	if errors.Is(err, contract.ErrNotDeclared) {
		return nil // the account is gone, as in a database that was restored, and its keys with it
	}
	return declared(err)
}

// next is how long nothing changes by itself; 0: for ever.
func (k *keys) next(o *v1alpha1.PrismKey) time.Duration {
	wait := k.cfg.Resync
	sooner := func(at time.Time) { wait = max(min(wait, at.Sub(k.now())), time.Second) }
	for _, r := range o.Status.Replaced {
		sooner(r.RevokeAt.Time)
	}
	if every := o.Spec.RotateEvery; every != nil && o.Status.IssuedAt != nil {
		sooner(o.Status.IssuedAt.Add(every.Duration))
	}
	return cmp.Or(wait, time.Second)
}

// Ends implements Kind.
func (k *keys) Ends(*v1alpha1.PrismKey) bool { return true }

// End implements Kind: every key of the object is revoked. Its Secret goes with the object.
func (k *keys) End(ctx context.Context, o *v1alpha1.PrismKey) error {
	k.replace(o, o.Status.KeyID, 0)
	k.replace(o, o.Status.PendingKeyID, 0)
	if len(o.Status.Replaced) == 0 {
		return nil
	}
	o.Status.KeyID, o.Status.PendingKeyID, o.Status.IssuedAt, o.Status.ExpiresAt = "", "", nil, nil
	if err := k.record(ctx, o); err != nil {
		return err
	}
	for i := range o.Status.Replaced {
		o.Status.Replaced[i].RevokeAt = metav1.NewTime(k.now())
	}
	return k.revoke(ctx, o, k.now())
}
