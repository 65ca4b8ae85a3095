package modelsfile

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// bedrock is the service that requests to Bedrock are signed for.
const bedrock = "bedrock"

// identity reads the members of {kind: google}, {kind: azure} or {kind: aws, region: NAME, service: NAME}.
func (r *reader) identity(list []member, where string) (workload provider.Identity) {
	for _, m := range list {
		at := where + "." + m.name
		switch m.name {
		case "kind":
			workload.Kind = r.oneOf(m, at, identity.KindGoogle, identity.KindAzure, identity.KindAWS)
		case "region":
			workload.Region = r.text(m.value, at)
		case "service":
			workload.Service = r.text(m.value, at)
		default:
			r.Add(m.line, where, "has no member "+strconv.Quote(m.name))
		}
	}
	if workload.Kind != identity.KindAWS && (workload.Region != "" || workload.Service != "") {
		r.Add(list[0].line, where, "region and service are for aws")
	}
	if workload.Kind == identity.KindAWS && workload.Service == "" {
		workload.Service = bedrock
	}
	return workload
}

// identities are what the models of a process use of its identities: models share their tokens.
type identities struct {
	log      *slog.Logger
	renewals *credential.Renewals

	mu    sync.Mutex
	known map[provider.Identity]upstream.Authorizer
}

// open is what requests of an identity have. It asks no server.
func (i *identities) open(workload provider.Identity) (upstream.Authorizer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a, ok := i.known[workload]; ok {
		return a, nil
	}
	var a upstream.Authorizer
	count := i.renewals.Count(workload.Kind)
	switch workload.Kind {
	case identity.KindGoogle:
		a = bearer{credential.NewTokens(identity.Google(identity.GoogleCloud), count, i.log)}
	case identity.KindAzure:
		a = bearer{credential.NewTokens(identity.Azure(identity.AzureModels), count, i.log)}
	default:
		keys, err := identity.NewAWS(workload.Region, count, i.log)
		if err != nil {
			return nil, err
		}
		a = signed{keys, workload.Service}
	}
	if i.known == nil {
		i.known = map[provider.Identity]upstream.Authorizer{}
	}
	i.known[workload] = a
	return a, nil
}

// bearer shows tokens.
type bearer struct{ tokens credential.Tokens }

// Authorize implements upstream.Authorizer.
func (b bearer) Authorize(ctx context.Context, request *http.Request, _ upstream.Body) error {
	token, err := b.tokens.Get(ctx)
	if err == nil {
		request.Header.Set("Authorization", "Bearer "+token.Value)
	}
	return err
}

// Refused implements upstream.Authorizer.
func (b bearer) Refused() { b.tokens.Doubt() }

// signed signs requests for a service of AWS.
type signed struct {
	keys    *identity.AWS
	service string
}

// Authorize implements upstream.Authorizer.
func (s signed) Authorize(ctx context.Context, request *http.Request, body upstream.Body) error {
	return s.keys.Sign(ctx, request, body, s.service)
}

// Refused implements upstream.Authorizer.
func (s signed) Refused() { s.keys.Doubt() }

// private reports whether requests to an address are encrypted or stay on this machine. An address that is none is reported elsewhere.
func private(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && net.IP(ip.AsSlice()).IsLoopback()
}
