package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// modelsKey is the key of the ConfigMap that model-proxy mounts.
const modelsKey = "models.yaml"

// models is the controller of PrismModels (spec: declared-models). It writes the file of models into the ConfigMap that model-proxy mounts and
// reads again when it changes, so no Pod restarts. The ConfigMap stays when the object goes: calls need a model.
type models struct {
	*base
	replicas *replicas
}

// askAgain is when the Pods are asked again while not all of them use the file. A kubelet takes up to a minute to bring it.
const askAgain = 5 * time.Second

// Sync implements Kind.
func (k *models) Sync(ctx context.Context, o *v1alpha1.PrismModels) (time.Duration, error) {
	if o.Namespace != k.cfg.Namespace {
		return 0, notAllowed("models count only in the namespace %s", k.cfg.Namespace)
	}
	first, err := k.first(ctx)
	if err != nil {
		return 0, err
	}
	if first != o.Name {
		return 0, notAllowed("only the oldest PrismModels counts, which is %s", first)
	}
	text, err := modelsFile(o.Spec)
	if err != nil {
		return 0, &Problem{Reason: v1alpha1.ReasonInvalid, Text: err.Error()}
	}
	file := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: k.cfg.Namespace, Name: k.cfg.Release + "-models"}}
	did, err := controllerutil.CreateOrUpdate(ctx, k.Client, file, func() error {
		if file.Labels == nil {
			file.Labels = map[string]string{}
		}
		file.Labels[managedByLabel] = managedBy
		file.Data = map[string]string{modelsKey: text}
		return nil
	})
	if err != nil {
		return 0, err
	}
	reason, note, hash := v1alpha1.ReasonInSync, untouched, contract.HashOfModels([]byte(text))
	if did != controllerutil.OperationResultNone && hash == o.Status.Hash {
		reason, note = v1alpha1.ReasonOverwritten, "Somebody else changed the ConfigMap "+file.Name+"; that was undone"
	}
	k.set(o, v1alpha1.Drifted, metav1.ConditionFalse, reason, note)
	o.Status.Hash = hash
	return k.loaded(ctx, o)
}

// loaded tells how many Pods of model-proxy use the file.
func (k *models) loaded(ctx context.Context, o *v1alpha1.PrismModels) (time.Duration, error) {
	loaded, known := k.replicas.ask(ctx, o.Status.Hash)
	if !known {
		o.Status.LoadedBy = ""
		return 0, nil
	}
	o.Status.LoadedBy = loaded.String()
	switch {
	case loaded.refused > 0:
		return 0, &Problem{Reason: v1alpha1.ReasonInvalid, Text: fmt.Sprintf(
			"%d of %d Pods of model-proxy refuse the file and use the one before: their log says why", loaded.refused, loaded.pods)}
	case loaded.used < loaded.pods:
		return askAgain, nil
	}
	return 0, nil
}

// Ends implements Kind.
func (k *models) Ends(*v1alpha1.PrismModels) bool { return false }

// End implements Kind.
func (k *models) End(context.Context, *v1alpha1.PrismModels) error { return nil }

// first is the name of the object that counts: the oldest, and of two of one second the first by name.
func (k *models) first(ctx context.Context) (string, error) {
	var all v1alpha1.PrismModelsList
	if err := k.List(ctx, &all, kube.InNamespace(k.cfg.Namespace)); err != nil {
		return "", err
	}
	var first *v1alpha1.PrismModels
	for i := range all.Items {
		o := &all.Items[i]
		if first == nil || older(o, first) {
			first = o
		}
	}
	if first == nil {
		return "", &Problem{Reason: v1alpha1.ReasonFailed, Text: "the object is not in the cache yet", Retry: true}
	}
	return first.Name, nil
}

// modelsFile is the file of models as model-proxy reads it.
func modelsFile(s v1alpha1.PrismModelsSpec) (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	written, err := yaml.JSONToYAML(text)
	return string(written), err
}
