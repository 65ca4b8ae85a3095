package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/prism-results/prism/pkg/credential"
)

const (
	// signedFor is how long RDS and ElastiCache accept a token, unless the keys that signed it end before.
	signedFor = 15 * time.Minute
	// keysFor is how long keys without an end are used before they are looked up again: their file may have others.
	keysFor = 2 * time.Second
)

// AWS signs with the keys of the process: those of credential.AWSKeys, which are renewed in the background.
type AWS struct {
	region string
	keys   *credential.Renewed[credentials.Value]
	signer *v4.Signer
}

// NewAWS makes an AWS for a region, that of the process if it is "". count may be nil.
func NewAWS(region string, count *credential.Count, log *slog.Logger) (*AWS, error) {
	if region == "" {
		region = Region()
	}
	if region == "" {
		return nil, errors.New("the region is missing: set AWS_REGION")
	}
	chain, err := credential.AWSKeys(log)
	if err != nil {
		return nil, err
	}
	return &AWS{region: region, signer: v4.NewSigner(), keys: credential.Renew(func(context.Context) (keys credential.Ending[credentials.Value], err error) {
		keys.Value, err = chain.GetWithContext(nil)
		if keys.End = keys.Value.Expiration; keys.End.IsZero() {
			keys.End = time.Now().Add(keysFor)
		}
		if err == nil && keys.Value.AccessKeyID == "" {
			err = errors.New("no keys of AWS were found")
		}
		return keys, err
	}, count, log)}, nil
}

// RDS gets tokens for a user of a database of RDS at host:port.
func (a *AWS) RDS(address, user string) credential.Fetch[string] {
	return a.presigned(address, "rds-db", url.Values{"Action": {"connect"}, "DBUser": {user}})
}

// ElastiCache gets tokens for a user of a cache.
func (a *AWS) ElastiCache(cache, user string, serverless bool) credential.Fetch[string] {
	query := url.Values{"Action": {"connect"}, "User": {user}}
	if serverless {
		query.Set("ResourceType", "ServerlessCache")
	}
	return a.presigned(cache, "elasticache", query)
}

// presigned gets tokens that are the address of a signed request, without its scheme.
func (a *AWS) presigned(host, service string, query url.Values) credential.Fetch[string] {
	query.Set("X-Amz-Expires", "900") // signedFor, in seconds
	address := url.URL{Scheme: "https", Host: host, Path: "/", RawQuery: query.Encode()}
	return func(ctx context.Context) (token credential.Ending[string], err error) {
		keys, err := a.keys.Get(ctx)
		if err != nil {
			return token, err
		}
		now := time.Now()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
		if err != nil {
			return token, err
		}
		nothing := sha256.Sum256(nil)
		signed, _, err := a.signer.PresignHTTP(ctx, shown(keys.Value), request, hex.EncodeToString(nothing[:]), service, a.region, now)
		token.Value, token.End = strings.TrimPrefix(signed, "https://"), now.Add(signedFor)
		if end := keys.Value.Expiration; !end.IsZero() && end.Before(token.End) {
			token.End = end
		}
		return token, err
	}
}

// Sign signs a request to a service. The body is what the parts are together.
func (a *AWS) Sign(ctx context.Context, request *http.Request, body [][]byte, service string) error {
	keys, err := a.keys.Get(ctx)
	if err != nil {
		return err
	}
	hash := sha256.New()
	for _, part := range body {
		_, _ = hash.Write(part)
	}
	return a.signer.SignHTTP(ctx, shown(keys.Value), request, hex.EncodeToString(hash.Sum(nil)), service, a.region, time.Now())
}

// Doubt has the keys be looked up again.
func (a *AWS) Doubt() { a.keys.Doubt() }

func shown(keys credentials.Value) aws.Credentials {
	return aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: keys.SessionToken}
}
