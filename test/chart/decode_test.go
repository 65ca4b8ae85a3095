package chart

import (
	"errors"
	"fmt"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// object is what would be sent to the cluster, and the Pod that it makes, if any.
type object struct {
	what     string // "Deployment prism-gateway"
	kind     string // "apps/v1 Deployment"
	meta     metav1.ObjectMeta
	it       any // a pointer to the type
	template *corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	text     string
}

// scaledObject is KEDA's ScaledObject (keda.sh/v1alpha1, as of KEDA 2.18). It is written out here, because the module of KEDA
// brings every scaler's client along.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef struct {
			APIVersion             string `json:"apiVersion"`
			Kind                   string `json:"kind"`
			Name                   string `json:"name"`
			EnvSourceContainerName string `json:"envSourceContainerName"`
		} `json:"scaleTargetRef"`
		PollingInterval       *int32 `json:"pollingInterval"`
		InitialCooldownPeriod *int32 `json:"initialCooldownPeriod"`
		CooldownPeriod        *int32 `json:"cooldownPeriod"`
		IdleReplicaCount      *int32 `json:"idleReplicaCount"`
		MinReplicaCount       *int32 `json:"minReplicaCount"`
		MaxReplicaCount       *int32 `json:"maxReplicaCount"`
		Advanced              struct {
			HorizontalPodAutoscalerConfig struct {
				Name     string                                         `json:"name"`
				Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
			RestoreToOriginalReplicaCount bool `json:"restoreToOriginalReplicaCount"`
			ScalingModifiers              struct {
				Formula          string `json:"formula"`
				Target           string `json:"target"`
				ActivationTarget string `json:"activationTarget"`
				MetricType       string `json:"metricType"`
			} `json:"scalingModifiers"`
		} `json:"advanced"`
		Triggers []struct {
			Type              string            `json:"type"`
			Name              string            `json:"name"`
			UseCachedMetrics  bool              `json:"useCachedMetrics"`
			Metadata          map[string]string `json:"metadata"`
			MetricType        string            `json:"metricType"`
			AuthenticationRef struct {
				Name string `json:"name"`
				Kind string `json:"kind"`
			} `json:"authenticationRef"`
		} `json:"triggers"`
		Fallback *struct {
			FailureThreshold int32  `json:"failureThreshold"`
			Replicas         int32  `json:"replicas"`
			Behavior         string `json:"behavior"`
		} `json:"fallback"`
	} `json:"spec"`
}

// certificate is cert-manager's Certificate (cert-manager.io/v1), as far as the chart uses it: the module of cert-manager brings
// clients of DNS providers along.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SecretName string   `json:"secretName"`
		DNSNames   []string `json:"dnsNames"`
		Usages     []string `json:"usages"`
		PrivateKey struct {
			Algorithm      string `json:"algorithm"`
			Size           int    `json:"size"`
			RotationPolicy string `json:"rotationPolicy"`
		} `json:"privateKey"`
		Duration    metav1.Duration `json:"duration"`
		RenewBefore metav1.Duration `json:"renewBefore"`
		IssuerRef   struct {
			Name  string `json:"name"`
			Kind  string `json:"kind"`
			Group string `json:"group"`
		} `json:"issuerRef"`
	} `json:"spec"`
}

// decode reads an object as what it says it is. A field that its type has not, in this very case, or that is there twice,
// is an error, and so is a kind that the chart has no business with.
func decode(text []byte) (object, error) {
	j, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return object{}, err
	}
	var head metav1.PartialObjectMetadata
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(j, &head); err != nil {
		return object{}, err
	}
	o := object{what: head.Kind + " " + head.Name, kind: head.APIVersion + " " + head.Kind, meta: head.ObjectMeta}
	switch o.kind {
	case "v1 ConfigMap":
		o.it = &corev1.ConfigMap{}
	case "v1 Secret":
		o.it = &corev1.Secret{}
	case "v1 Service":
		o.it = &corev1.Service{}
	case "v1 Namespace":
		o.it = &corev1.Namespace{}
	case "v1 ServiceAccount":
		o.it = &corev1.ServiceAccount{}
	case "apps/v1 Deployment":
		d := &appsv1.Deployment{}
		o.it, o.template = d, &d.Spec.Template
	case "apps/v1 StatefulSet":
		s := &appsv1.StatefulSet{}
		o.it, o.template = s, &s.Spec.Template
	case "batch/v1 Job":
		j := &batchv1.Job{}
		o.it, o.template = j, &j.Spec.Template
	case "autoscaling/v2 HorizontalPodAutoscaler":
		o.it = &autoscalingv2.HorizontalPodAutoscaler{}
	case "v1 Pod":
		o.it = &corev1.Pod{}
	case "rbac.authorization.k8s.io/v1 Role":
		o.it = &rbacv1.Role{}
	case "rbac.authorization.k8s.io/v1 RoleBinding":
		o.it = &rbacv1.RoleBinding{}
	case "rbac.authorization.k8s.io/v1 ClusterRole":
		o.it = &rbacv1.ClusterRole{}
	case "rbac.authorization.k8s.io/v1 ClusterRoleBinding":
		o.it = &rbacv1.ClusterRoleBinding{}
	case "apiextensions.k8s.io/v1 CustomResourceDefinition":
		o.it = &apiextensionsv1.CustomResourceDefinition{}
	case "keda.sh/v1alpha1 ScaledObject":
		o.it = &scaledObject{}
	case "policy/v1 PodDisruptionBudget":
		o.it = &policyv1.PodDisruptionBudget{}
	case "networking.k8s.io/v1 Ingress":
		o.it = &networkingv1.Ingress{}
	case "networking.k8s.io/v1 NetworkPolicy":
		o.it = &networkingv1.NetworkPolicy{}
	case "gateway.networking.k8s.io/v1 HTTPRoute":
		o.it = &gatewayv1.HTTPRoute{}
	case "cert-manager.io/v1 Certificate":
		o.it = &certificate{}
	case "monitoring.coreos.com/v1 ServiceMonitor":
		o.it = &monitoringv1.ServiceMonitor{}
	case "monitoring.coreos.com/v1 PodMonitor":
		o.it = &monitoringv1.PodMonitor{}
	case "monitoring.coreos.com/v1 PrometheusRule":
		o.it = &monitoringv1.PrometheusRule{}
	default:
		return object{}, fmt.Errorf("%s is not known here", o.kind)
	}
	wrong, err := sigsjson.UnmarshalStrict(j, o.it)
	if d, ok := o.it.(*appsv1.Deployment); ok {
		o.selector = d.Spec.Selector
	}
	return o, errors.Join(append(wrong, err)...)
}
