package operator

import (
	"context"
	"time"

	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// accounts is the controller of PrismAccount (spec: declared-accounts). The account stays when the object goes.
type accounts struct {
	*base
	declarations contract.Declarations
}

// Sync implements Kind.
func (k *accounts) Sync(ctx context.Context, o *v1alpha1.PrismAccount) (time.Duration, error) {
	if o.Namespace != k.cfg.Namespace {
		return 0, notAllowed("a PrismAccount counts only in the namespace %s", k.cfg.Namespace)
	}
	if err := k.first(ctx, o); err != nil {
		return 0, err
	}
	object, err := prism.ParseUUID(string(o.UID))
	if err != nil {
		return 0, err
	}
	a := contract.DeclareAccount{Object: object, Name: o.Spec.Name}
	if l := o.Spec.Limits; l != nil {
		a.HasLimits, a.Limits = true, prism.Limits{
			RequestsPerSecond: limit(l.RequestsPerSecond), Concurrency: limit(l.Concurrency), ResultsPerDay: limit(l.ResultsPerDay),
		}
		if l.StoredBytes != nil {
			a.Limits.StoredBytes = *l.StoredBytes
		}
	}
	if o.Spec.Members != nil {
		a.Members = []contract.DeclaredMember{}
	}
	for _, m := range o.Spec.Members {
		a.Members = append(a.Members, contract.DeclaredMember{Name: m.Name, Role: prism.Role(m.Role), Claim: claim(m)})
	}
	id, err := k.declarations.DeclareAccount(ctx, a)
	if err != nil {
		return 0, declared(err)
	}
	o.Status.ID = id.String()
	return 0, nil
}

// claim is what somebody signs in with who becomes the member: the address is a claim, which the provider has verified.
func claim(m v1alpha1.AccountMember) prism.Claim {
	switch {
	case m.Claim != nil:
		return prism.Claim{Name: m.Claim.Name, Value: m.Claim.Value}
	case m.Email != nil:
		return prism.Claim{Name: "email", Value: *m.Email}
	}
	return prism.Claim{} // which Prism refuses
}

func limit(n *int64) int32 {
	if n == nil {
		return 0
	}
	return int32(*n) //nolint:gosec // the schema bounds it
}

// first returns an error if an older object declares an account of the same name: the two would change it in turn.
func (k *accounts) first(ctx context.Context, o *v1alpha1.PrismAccount) error {
	var all v1alpha1.PrismAccountList
	if err := k.List(ctx, &all, kube.InNamespace(k.cfg.Namespace)); err != nil {
		return err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.Spec.Name == o.Spec.Name && other.Name != o.Name && older(other, o) {
			return &Problem{
				Reason: v1alpha1.ReasonInvalid, Unusable: true, Text: "the PrismAccount " + other.Name + " declares an account of this name",
			}
		}
	}
	return nil
}

// Ends implements Kind.
func (k *accounts) Ends(*v1alpha1.PrismAccount) bool { return false }

// End implements Kind.
func (k *accounts) End(context.Context, *v1alpha1.PrismAccount) error { return nil }
