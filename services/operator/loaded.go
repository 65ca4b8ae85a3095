package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// podWait bounds how long a Pod of model-proxy may take to say which file of models it uses.
	podWait = 2 * time.Second
	// podsAtOnce bounds how many Pods are asked at the same time.
	podsAtOnce = 16
	// mostMetrics bounds what is read of the metrics of a Pod, in bytes.
	mostMetrics = 16 << 20
	// fileMetric is the metric of model-proxy with the hashes of files of models.
	fileMetric = "prism_models_file"
)

// replicas are the Pods of model-proxy, which know the file of models that they use.
type replicas struct {
	// address is the host, which has the addresses of all Pods, and the admin port. Empty: nobody knows them.
	address string
	lookup  func(ctx context.Context, host string) ([]string, error)
	client  http.Client
}

func newReplicas(address string) *replicas {
	return &replicas{address: address, lookup: net.DefaultResolver.LookupHost, client: http.Client{
		Timeout: podWait, Transport: &http.Transport{DisableKeepAlives: true},
	}}
}

// loads counts what Pods do with a file of models.
type loads struct{ used, refused, pods int }

func (l loads) String() string { return fmt.Sprintf("%d/%d", l.used, l.pods) }

// ask asks each Pod whether it uses the file with a hash. A Pod that does not answer does not use it. false: nobody knows the Pods.
func (r *replicas) ask(ctx context.Context, hash string) (loads, bool) {
	host, port, err := net.SplitHostPort(r.address)
	if err != nil {
		return loads{}, false
	}
	looking, cancel := context.WithTimeout(ctx, podWait)
	defer cancel()
	addresses, err := r.lookup(looking, host)
	if missing := new(net.DNSError); errors.As(err, &missing) && missing.IsNotFound {
		return loads{}, true
	}
	if err != nil {
		return loads{}, false
	}
	counted := loads{pods: len(addresses)}
	var mu sync.Mutex
	var pods sync.WaitGroup
	places := make(chan struct{}, podsAtOnce)
	for _, a := range addresses {
		pods.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			used, refused := r.file(ctx, net.JoinHostPort(a, port))
			mu.Lock()
			defer mu.Unlock()
			if used == hash {
				counted.used++
			}
			if refused == hash {
				counted.refused++
			}
		})
	}
	pods.Wait()
	return counted, true
}

// file returns the hashes of the files that a Pod uses and refuses; "" without one.
func (r *replicas) file(ctx context.Context, address string) (used, refused string) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return "", ""
	}
	a, err := r.client.Do(q)
	if err != nil {
		return "", ""
	}
	defer func() { _ = a.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(a.Body, mostMetrics))
	if err != nil {
		return "", ""
	}
	for _, m := range families[fileMetric].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["state"] == "used" {
			used = labels["hash"]
		} else {
			refused = labels["hash"]
		}
	}
	return used, refused
}
