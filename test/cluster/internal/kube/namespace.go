// Package kube drives kubectl and helm, as people do.
package kube

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Namespace is one namespace of the cluster that kubectl's current context names.
type Namespace struct{ Name string }

// Kubectl runs kubectl in the namespace, and returns what it prints.
func (n Namespace) Kubectl(ctx context.Context, args ...string) (string, error) {
	return command(ctx, "", "kubectl", append([]string{"--namespace", n.Name}, args...)...)
}

// Helm runs helm in the namespace.
func (n Namespace) Helm(ctx context.Context, args ...string) (string, error) {
	return command(ctx, "", "helm", append([]string{"--namespace", n.Name}, args...)...)
}

// Apply makes objects, or changes them.
func (n Namespace) Apply(ctx context.Context, objects ...any) error {
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return err
	}
	_, err = command(ctx, string(list), "kubectl", "--namespace", n.Name, "apply", "--filename", "-")
	return err
}

// ApplyFolder applies the manifests of a folder as a tool of GitOps does.
func (n Namespace) ApplyFolder(ctx context.Context, dir string) error {
	// From within: kubectl takes a comma in a name for two names.
	_, err := n.Shell(ctx, "cd '"+dir+`' && kubectl --namespace "$NAMESPACE" apply --server-side --filename .`)
	return err
}

// Get reads an object into a value of its JSON form.
func (n Namespace) Get(ctx context.Context, into any, what ...string) error {
	out, err := n.Kubectl(ctx, append(append([]string{"get"}, what...), "--output", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), into)
}

// Forward has an address of this machine lead to a port of a Pod of what is named, such as deployment/NAME, until ctx ends.
func (n Namespace) Forward(ctx context.Context, to string, port int) (address string, err error) {
	cmd := exec.CommandContext(ctx, "kubectl", "--namespace", n.Name, "port-forward", "--address", "127.0.0.1", to, ":"+strconv.Itoa(port))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() { _ = cmd.Wait() }() // it is killed when ctx ends
	address, _, found := strings.Cut(strings.TrimPrefix(line, "Forwarding from "), " -> ")
	if err != nil || !found {
		return "", fmt.Errorf("kubectl port-forward %s: %q: %w\n%s", to, line, cmp.Or(err, errNotYet), stderr.String())
	}
	return address, nil
}

// Shell runs a shell command that has $NAMESPACE.
func (n Namespace) Shell(ctx context.Context, line string) (string, error) {
	return command(ctx, "", "sh", "-c", "NAMESPACE="+n.Name+"; export NAMESPACE; "+line)
}

// command keeps arguments and input out of its errors beyond the first three: keys may be among them.
func command(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		shown := strings.Join(args[:min(len(args), 5)], " ")
		return stdout.String(), fmt.Errorf("%s %s …: %w\n%s", name, shown, err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Pod is what is looked at of a Pod.
type Pod struct {
	Metadata struct {
		Name              string            `json:"name"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec struct {
		TerminationGracePeriodSeconds int `json:"terminationGracePeriodSeconds"`
		Containers                    []struct {
			Image string `json:"image"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		PodIP      string `json:"podIP"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
		ContainerStatuses []struct {
			RestartCount int `json:"restartCount"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

// Ready tells whether the Pod gets calls.
func (p Pod) Ready() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True" && p.Metadata.DeletionTimestamp == nil
		}
	}
	return false
}

// Restarts of its containers.
func (p Pod) Restarts() (n int) {
	for _, c := range p.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// Pods are those with the labels, those that go away included.
func (n Namespace) Pods(ctx context.Context, selector string) ([]Pod, error) {
	out, err := n.Kubectl(ctx, "get", "pods", "--selector", selector, "--output", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []Pod `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("kubectl get pods: %w", err)
	}
	return list.Items, nil
}

var errNotYet = errors.New("not yet")

// Await looks again and again until done says so, or fails with what it said last when ctx ends.
func Await(ctx context.Context, condition string, done func(context.Context) (bool, string, error)) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var seen string
	for {
		ok, now, err := done(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil { // else a command was cut off, and saw nothing
			seen = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w; last seen: %s: %w", condition, ctx.Err(), seen, cmp.Or(err, errNotYet))
		}
	}
}
