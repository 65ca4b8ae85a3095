package modelsfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/yamlfile"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// credentialLife is so short that a test needs many credentials.
const credentialLife = 4 * time.Second

// issuer gives credentials that end, and knows which are good.
type issuer struct {
	given atomic.Int64
	down  atomic.Bool
	ends  sync.Map // of each credential, by its text
}

func (i *issuer) issue() (text string, end time.Time) {
	text, end = fmt.Sprintf("credential-%d", i.given.Add(1)), time.Now().Add(credentialLife)
	i.ends.Store(text, end)
	return text, end
}

func (i *issuer) good(text string) bool {
	end, ok := i.ends.Load(text)
	return ok && time.Now().Before(end.(time.Time)) //nolint:forcetypeassert // issue stores times
}

func serving(t *testing.T, handler http.HandlerFunc) (address string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// cloud has the process have an identity of a kind, whose credentials come from the issuer.
func (i *issuer) cloud(t *testing.T, kind string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of Kubernetes"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			http.Error(w, "down", http.StatusBadRequest)
			return
		}
		text, end := i.issue()
		switch kind {
		case "google":
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":%d,"token_type":"Bearer"}`, text, int(credentialLife.Seconds()))
		case "azure":
			if r.URL.Query().Get("resource") != "https://cognitiveservices.azure.com" {
				http.Error(w, "wrong", http.StatusBadRequest)
				return
			}
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_on":"%d","token_type":"Bearer","resource":"r"}`, text, end.Unix())
		default:
			_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
				`<AccessKeyId>%s</AccessKeyId><SecretAccessKey>secret of %[1]s</SecretAccessKey><SessionToken>session</SessionToken><Expiration>%s</Expiration>`+
				`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, text, end.UTC().Format(time.RFC3339))
		}
	})
	for name, value := range map[string]string{
		"GOOGLE_APPLICATION_CREDENTIALS": "", "GCE_METADATA_HOST": strings.TrimPrefix(address, "http://"),
		"AZURE_FEDERATED_TOKEN_FILE": "", "AZURE_CLIENT_ID": "", "IDENTITY_ENDPOINT": address, "IDENTITY_HEADER": "header",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": "", "AWS_WEB_IDENTITY_TOKEN_FILE": file,
		"AWS_ROLE_ARN": "arn:role", "AWS_ENDPOINT_URL_STS": address, "AWS_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
}

// authorized reports whether a request has credentials that have not ended. The signature of AWS is computed again.
func (i *issuer) authorized(r *http.Request, body []byte) bool {
	header := r.Header.Get("Authorization")
	if token, ok := strings.CutPrefix(header, "Bearer "); ok {
		return i.good(token)
	}
	_, rest, _ := strings.Cut(header, "Credential=")
	key, _, _ := strings.Cut(rest, "/")
	_, rest, _ = strings.Cut(header, "SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || !i.good(key) || r.Header.Get("X-Amz-Security-Token") != "session" {
		return false
	}
	again := httptest.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	for name := range strings.SplitSeq(names, ";") {
		if name != "host" && name != "content-length" && !strings.HasPrefix(name, "x-amz-") {
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	hash := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: key, SecretAccessKey: "secret of " + key, SessionToken: "session"}
	err = v4.NewSigner().SignHTTP(r.Context(), keys, again, hex.EncodeToString(hash[:]), "bedrock", "eu-central-1", at)
	return err == nil && again.Header.Get("Authorization") == header
}

// The variables of the process name the token servers, so the cases are not parallel.
//
// spec: model-identity, tokens-are-renewed
func TestModelsAreAskedByTheIdentityOfTheWorkload(t *testing.T) {
	for _, kind := range []string{"google", "azure", "aws"} {
		t.Run(kind, func(t *testing.T) {
			var i issuer
			i.cloud(t, kind)
			base := serving(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || !i.authorized(r, body) {
					http.Error(w, `{"error":{"message":"the credentials are wrong"}}`, http.StatusUnauthorized)
					return
				}
				_, _ = fmt.Fprint(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`)
			})
			m := openModel(t, chatModel("    base_url: "+base+"/v1\n    model: m\n    auth: {kind: "+kind+"}\n"))
			ask := func() *upstream.Fault {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				_, fault := m.API.Calls(contract.Ask{
					Definition: prism.Definition{Questions: []prism.Question{{Key: "urgent", Type: prism.YesNo, Text: "Is it urgent?"}}},
					Fields:     []prism.FieldValue{{Key: "text", Value: "x"}},
				})[0].Do(ctx)
				return fault
			}
			var calls, failed atomic.Int64
			var callers sync.WaitGroup
			late := time.Now().Add(2 * time.Minute)
			for range 4 {
				callers.Go(func() {
					for i.given.Load() < 5 && failed.Load() == 0 && time.Now().Before(late) {
						if fault := ask(); fault != nil {
							failed.Add(1)
							t.Errorf("a call failed: %s, %s, %d", fault.Class, fault.Cause, fault.Status)
						}
						calls.Add(1)
					}
				})
			}
			callers.Wait()
			if i.given.Load() < 5 {
				t.Errorf("%d credentials were given", i.given.Load())
			}
			t.Logf("%d calls, %d failed", calls.Load(), failed.Load())
			i.down.Store(true)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for range tick.C { // until the last credentials have ended
				if fault := ask(); fault != nil {
					if fault.Cause != upstream.NoCredentials || !fault.Retryable() {
						t.Errorf("got %s, %s", fault.Class, fault.Cause)
					}
					break
				}
			}
		})
	}
}

// spec: model-identity
func TestIdentitiesThatAreWrongAreNamed(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	for lines, want := range map[string]string{
		"auth: {kind: other}":                               ":7: a.auth.kind: must be google, azure or aws",
		"auth: {kind: google, region: eu-1}":                ":7: a.auth: region and service are for aws",
		"auth: {kind: google, more: 1}":                     `:7: a.auth: has no member "more"`,
		"auth: {kind: aws}":                                 ":7: a.auth: the region is missing: set AWS_REGION",
		"auth: {kin: aws}":                                  ":7: a.auth: must be bearer, none, {header: NAME} or {kind: google}",
		"auth: {kind: azure}\n    api_key_env: KEY":         ":7: a.auth: the identity azure sends no key",
		"auth: {kind: aws, region: eu-1, service: bedrock}": "",
	} {
		_, err := Open(config(write(t, chatModel(local+"    "+lines+"\n"))))
		var problems *yamlfile.Problems
		if want == "" && err != nil || want != "" && (!errors.As(err, &problems) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v", lines, err)
		}
	}
	plain := chatModel("    base_url: http://models.example.com/v1\n    model: m\n    auth: {kind: google}\n")
	if _, err := Open(config(write(t, plain))); err == nil || !strings.Contains(err.Error(), ":5: a.base_url: a token of an identity needs https to another machine") {
		t.Errorf("got %v", err)
	}
}
