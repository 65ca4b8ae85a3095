package operator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/definition"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// prisms is the controller of Prism (spec: declared-prisms).
//
//	what Prism has      │ who made it so                          │ then
//	────────────────────┼─────────────────────────────────────────┼─────────────────────────────────────────
//	nothing             │                                         │ the prism is made
//	what the spec says  │                                         │ nothing
//	anything else       │ the operator, or nobody it knows of yet │ it is changed to what the spec says
//	anything else       │ somebody else                           │ that is told, or with Overwrite undone
//
// The operator made it so if its hash is that of the status, or one that the status said it was about to make: those are written before a change,
// since an operator may end in the middle of it, or before it can tell of it. What has no hash, as retention, somebody else changed if the spec has not changed
// since it was synced. Each change is made on the condition that the prism is as it was read, so a change by somebody else meanwhile is not
// overwritten, and an operator that is killed, or runs twice, makes no version twice.
type prisms struct{ *base }

// state is what a spec says of a prism. What it does not say is empty, so that it is not compared.
type state struct {
	Definition client.NewPrism
	Archived   bool
	extras
}

// extras are what a spec may say beside the definition.
type extras struct {
	Searchable *bool
	Retention  *int
	Watched    *bool
}

// hash is the content hash of the definition, for the status.
func (s state) hash() string {
	s.extras = extras{}
	return hashOf(s)
}

func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("operator: a definition has no JSON form: " + err.Error())
	}
	return digest(text)
}

// version is the hash of what only a version changes.
func (s state) version() string { return hashOf(s.Definition.Definition) }

func (s state) lens() string { return hashOf(s.Definition.Lens) }

// asks is what the spec says beside the definition.
func asks(o *v1alpha1.Prism) (e extras) {
	e.Searchable = o.Spec.Searchable
	if o.Spec.RetentionDays != nil {
		days := int(*o.Spec.RetentionDays)
		e.Retention = &days
	}
	if o.Spec.Drift != nil {
		e.Watched = &o.Spec.Drift.Watched
	}
	return e
}

// Sync implements Kind.
func (k *prisms) Sync(ctx context.Context, o *v1alpha1.Prism) (time.Duration, error) {
	c, err := k.client(ctx, o)
	if err != nil {
		return 0, err
	}
	if err := k.first(ctx, o); err != nil {
		return 0, err
	}
	p, err := c.ReadPrism(ctx, o.Spec.Slug)
	if errors.Is(err, client.ErrNotFound) {
		return 0, k.create(ctx, c, o)
	}
	if err != nil {
		return 0, err
	}
	now, err := k.read(ctx, c, o, p)
	if err != nil {
		return 0, err
	}
	synced := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Synced)
	settled := synced != nil && synced.ObservedGeneration == o.Generation // the spec has not changed since
	if settled && synced.Status == metav1.ConditionTrue && now.hash() == o.Status.VersionHash && hashOf(now.extras) == hashOf(asks(o)) {
		return 0, nil // as it was left: the definition needs no check
	}
	wanted, err := k.wanted(ctx, c, o, p)
	if err != nil {
		return 0, err
	}
	if hashOf(now) == hashOf(wanted) {
		k.set(o, v1alpha1.Drifted, metav1.ConditionFalse, v1alpha1.ReasonInSync, untouched)
		k.fill(o, p, now)
		return 0, nil
	}
	last := o.Status.VersionHash
	own := last == "" || last == now.hash() || slices.Contains(o.Status.Pending, now.hash())
	theirs := !own || settled && (synced.Status == metav1.ConditionTrue || synced.Reason == v1alpha1.Drifted)
	if theirs && o.Spec.DriftPolicy != v1alpha1.Overwrite {
		text := "Somebody else changed it in Prism, where its latest version is " + strconv.Itoa(p.LatestVersion)
		o.Status.LatestVersion = p.LatestVersion
		k.set(o, v1alpha1.Drifted, metav1.ConditionTrue, v1alpha1.ReasonChanged, text)
		return 0, &Problem{
			Reason: v1alpha1.Drifted, Unusable: now.Archived,
			Text: text + ": take the change over into the spec, or set driftPolicy to Overwrite to undo it",
		}
	}
	if err := k.intend(ctx, o, now, wanted); err != nil {
		return 0, err
	}
	if err := k.change(ctx, c, p, now, wanted); err != nil {
		return 0, err
	}
	if theirs {
		k.set(o, v1alpha1.Drifted, metav1.ConditionFalse, v1alpha1.ReasonOverwritten,
			"Somebody else changed it in Prism; that was undone at version "+strconv.Itoa(p.LatestVersion))
	} else {
		k.set(o, v1alpha1.Drifted, metav1.ConditionFalse, v1alpha1.ReasonInSync, untouched)
	}
	return 0, k.reread(ctx, c, o)
}

// first returns an error if an older object declares the prism: the two would change it in turn.
func (k *prisms) first(ctx context.Context, o *v1alpha1.Prism) error {
	var all v1alpha1.PrismList // which is only read: each sync would copy every definition
	if err := k.List(ctx, &all, kube.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.Spec.Account != o.Spec.Account || other.Spec.Slug != o.Spec.Slug || !older(other, o) {
			continue
		}
		_, err := k.account(ctx, other)
		if err == nil {
			return &Problem{
				Reason: v1alpha1.ReasonInvalid, Unusable: true,
				Text: "the Prism " + other.Namespace + "/" + other.Name + " declares the prism " + o.Spec.Slug + " of this account",
			}
		}
		if problemOf(err).Reason != v1alpha1.ReasonNotAllowed {
			return err
		}
	}
	return nil
}

// Ends implements Kind.
func (k *prisms) Ends(o *v1alpha1.Prism) bool { return o.Spec.DeletionPolicy == v1alpha1.Archive }

// End implements Kind.
func (k *prisms) End(ctx context.Context, o *v1alpha1.Prism) error {
	if o.Status.ID == "" {
		return nil // this object never had a prism
	}
	c, err := k.client(ctx, o)
	if err != nil {
		return err
	}
	_, err = c.ArchivePrism(ctx, o.Status.ID)
	if errors.Is(err, client.ErrNotFound) {
		return nil
	}
	return err
}

// create makes the prism. If somebody makes one of the slug at the same moment, Prism refuses it, and it is compared next time.
func (k *prisms) create(ctx context.Context, c *client.Client, o *v1alpha1.Prism) error {
	file, err := fileOf(o)
	if err != nil {
		return err
	}
	p, err := c.CreatePrism(ctx, file)
	if err != nil {
		return err
	}
	o.Status.ID = p.ID
	wanted, err := k.wanted(ctx, c, o, p)
	if err != nil {
		return err
	}
	now, err := k.read(ctx, c, o, p)
	if err != nil {
		return err
	}
	if err := k.change(ctx, c, p, now, wanted); err != nil { // retention and drift
		return err
	}
	k.set(o, v1alpha1.Drifted, metav1.ConditionFalse, v1alpha1.ReasonInSync, untouched)
	return k.reread(ctx, c, o)
}

// fileOf is the spec as a prism file.
func fileOf(o *v1alpha1.Prism) (file client.NewPrism, err error) {
	text, err := json.Marshal(o.Spec.Definition)
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return file, &Problem{Reason: v1alpha1.ReasonInvalid, Text: err.Error()}
	}
	return file, nil
}

// wanted is what the spec says, as Prism would have it: Prism checks the definition and fills in the Lens.
func (k *prisms) wanted(ctx context.Context, c *client.Client, o *v1alpha1.Prism, p client.Prism) (state, error) {
	file, err := fileOf(o)
	if err != nil {
		return state{}, err
	}
	file.Slug = "check-" + strings.ToLower(rand.Text()) // the slug of an existing prism would be a conflict
	checked, err := c.CreatePrism(ctx, file, client.WithDryRun())
	if err != nil {
		return state{}, err
	}
	checked.Slug = p.Slug
	s := state{Definition: definition.FromPrism(checked), extras: asks(o)}
	s.Definition.Searchable = nil
	return s, nil
}

// read is what Prism has of what the spec speaks of.
func (k *prisms) read(ctx context.Context, c *client.Client, o *v1alpha1.Prism, p client.Prism) (state, error) {
	s := state{Definition: definition.FromPrism(p), Archived: p.ArchivedAt != nil}
	s.Definition.Searchable = nil
	if o.Spec.Searchable != nil {
		searchable := p.Searchable == nil
		s.Searchable = &searchable
	}
	if o.Spec.RetentionDays != nil {
		s.Retention = p.RetentionDays
	}
	if o.Spec.Drift != nil {
		d, err := c.ReadDrift(ctx, p.ID, 0)
		if err != nil {
			return s, err
		}
		s.Watched = &d.Watched
	}
	return s, nil
}

// maxPending bounds the hashes in a status: those of four changes that were not told of.
const maxPending = 12

// intend writes down what the prism is after each step of a change that is about to be made.
func (k *prisms) intend(ctx context.Context, o *v1alpha1.Prism, now, wanted state) error {
	all := slices.Clone(o.Status.Pending)
	for _, hash := range now.steps(wanted) {
		if hash != now.hash() && !slices.Contains(all, hash) {
			all = append(all, hash)
		}
	}
	if len(all) == len(o.Status.Pending) {
		return nil
	}
	o.Status.Pending = all[max(0, len(all)-maxPending):]
	return k.record(ctx, o)
}

// steps are the hashes of what change makes on its way.
func (s state) steps(wanted state) (hashes []string) {
	name := s.Definition.Name
	s.Archived = wanted.Archived
	hashes = append(hashes, s.hash())
	s.Definition = wanted.Definition
	s.Definition.Name = name
	return append(hashes, s.hash(), wanted.hash())
}

// change has Prism be as wanted.
func (k *prisms) change(ctx context.Context, c *client.Client, p client.Prism, now, wanted state) (err error) {
	if now.Archived {
		if p, err = c.UnarchivePrism(ctx, p.ID); err != nil {
			return err
		}
		if p, err = c.ReadPrism(ctx, p.ID); err != nil {
			return err
		}
	}
	switch {
	case now.version() != wanted.version():
		_, err = c.CreateVersion(ctx, p.ID, wanted.Definition.NewVersion, client.IfUnchanged(p))
	case now.lens() != wanted.lens():
		_, err = c.ReplaceLens(ctx, p.ID, *wanted.Definition.Lens, client.IfUnchanged(p))
	}
	if err == nil && now.Definition.Name != wanted.Definition.Name {
		_, err = c.RenamePrism(ctx, p.ID, wanted.Definition.Name)
	}
	if err == nil && wanted.Searchable != nil && *now.Searchable != *wanted.Searchable {
		_, err = c.SetSearchable(ctx, p.ID, *wanted.Searchable)
	}
	if err == nil && wanted.Retention != nil && (now.Retention == nil || *now.Retention != *wanted.Retention) {
		_, err = c.SetRetention(ctx, p.ID, wanted.Retention)
	}
	if err == nil && wanted.Watched != nil && *now.Watched != *wanted.Watched {
		_, err = c.SetDrift(ctx, p.ID, client.DriftChange{Watched: *wanted.Watched})
	}
	return err
}

// reread fills the status with what Prism has after a change.
func (k *prisms) reread(ctx context.Context, c *client.Client, o *v1alpha1.Prism) error {
	p, err := c.ReadPrism(ctx, o.Spec.Slug)
	if err != nil {
		return err
	}
	now, err := k.read(ctx, c, o, p)
	if err == nil {
		k.fill(o, p, now)
	}
	return err
}

func (k *prisms) fill(o *v1alpha1.Prism, p client.Prism, now state) {
	o.Status.ID, o.Status.LatestVersion, o.Status.VersionHash, o.Status.Pending = p.ID, p.LatestVersion, now.hash(), nil
}
