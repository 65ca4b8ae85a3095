package kube

// Restricted is a namespace in which Pod Security `restricted` is enforced.
func Restricted(name string) any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name, "labels": map[string]any{
			"pod-security.kubernetes.io/enforce":         "restricted",
			"pod-security.kubernetes.io/enforce-version": "latest",
		}},
	}
}

// Secret with text.
func Secret(name string, data map[string]string) any {
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": data}
}

// Certificate is a Secret in the form of cert-manager's.
func Certificate(name string, cert, key, authorities []byte) any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": map[string]any{"name": name},
		"data": map[string]any{"tls.crt": cert, "tls.key": key, "ca.crt": authorities},
	}
}

// Tool is a Pod that runs one command of an image, once. Its variables come from a Secret, when there is one.
type Tool struct {
	Name, Image, Secret string
	Args                []string
	Port                int // that it listens on, if any; it is ready when /healthz answers there
	// Mounts are further Secrets, each a folder /keys/NAME with a file for each of its members.
	Mounts []string
}

// Pod passes `restricted`.
func (t Tool) Pod() any {
	container := map[string]any{
		"name": "tool", "image": t.Image, "imagePullPolicy": "IfNotPresent", "args": t.Args,
		"securityContext": map[string]any{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": map[string]any{"drop": []string{"ALL"}},
		},
		"resources": map[string]any{"requests": map[string]any{"cpu": "50m", "memory": "64Mi"}},
	}
	if t.Secret != "" {
		container["envFrom"] = []any{map[string]any{"secretRef": map[string]any{"name": t.Secret}}}
	}
	volumes, mounts := []any{}, []any{}
	for _, secret := range t.Mounts {
		volumes = append(volumes, map[string]any{"name": secret, "secret": map[string]any{"secretName": secret}})
		mounts = append(mounts, map[string]any{"name": secret, "mountPath": "/keys/" + secret, "readOnly": true})
	}
	container["volumeMounts"] = mounts
	if t.Port != 0 {
		container["ports"] = []any{map[string]any{"name": "http", "containerPort": t.Port}}
		container["readinessProbe"] = map[string]any{"httpGet": map[string]any{"path": "/healthz", "port": "http"}, "periodSeconds": 1}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": t.Name, "labels": t.labels()},
		"spec": map[string]any{
			"restartPolicy":                 "Never",
			"automountServiceAccountToken":  false,
			"enableServiceLinks":            false,
			"terminationGracePeriodSeconds": 1,
			"securityContext": map[string]any{
				"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532,
				"seccompProfile": map[string]any{"type": "RuntimeDefault"},
			},
			"containers": []any{container},
			"volumes":    volumes,
		},
	}
}

// Service before the Pod, under its name.
func (t Tool) Service() any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": t.Name},
		"spec":     map[string]any{"selector": t.labels(), "ports": []any{map[string]any{"port": t.Port, "targetPort": "http"}}},
	}
}

func (t Tool) labels() map[string]any { return map[string]any{"app": t.Name} }
