package identity_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
)

// The variables of the process name the servers, so the tests of this package are not parallel.

func serve(t *testing.T, handler http.HandlerFunc) (address string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func wantToken(t *testing.T, fetch credential.Fetch[string], text string, life time.Duration) {
	t.Helper()
	token, err := fetch(t.Context())
	if err != nil || token.Value != text {
		t.Fatalf("got %q, %v", token.Value, err)
	}
	if left := time.Until(token.End); left > life || left < life-time.Minute {
		t.Errorf("%v are left of the token", left)
	}
}

// spec: workload-identity
func TestTokensOfTheMetadataServerOfGoogle(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" {
			http.Error(w, "wrong", http.StatusNotFound)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":3599,"token_type":"Bearer"}`, "for "+r.URL.Query().Get("scopes"))
	})
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(address, "http://"))
	wantToken(t, identity.Google(identity.GoogleSQL), "for "+identity.GoogleSQL, time.Hour)
}

// spec: workload-identity
func TestTokensOfAFederatedIdentityAtGoogle(t *testing.T) {
	dir := t.TempDir()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("subject_token") != "of Kubernetes" || r.FormValue("scope") != identity.GoogleCloud {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"access_token":"federated","expires_in":3600,"token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`)
	})
	write(t, filepath.Join(dir, "subject"), "of Kubernetes")
	write(t, filepath.Join(dir, "credentials"), fmt.Sprintf(`{"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
		"subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":%q,"credential_source":{"file":%q}}`, address, filepath.Join(dir, "subject")))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(dir, "credentials"))
	wantToken(t, identity.Google(identity.GoogleCloud), "federated", time.Hour)
}

// spec: workload-identity
func TestTokensOfAManagedIdentityOfAzure(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-IDENTITY-HEADER") != "header" || r.URL.Query().Get("client_id") != "client" {
			http.Error(w, "wrong", http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_on":"%d","resource":"r","token_type":"Bearer"}`,
			"for "+r.URL.Query().Get("resource"), time.Now().Add(time.Hour).Unix())
	})
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", "")
	t.Setenv("AZURE_CLIENT_ID", "client")
	t.Setenv("IDENTITY_ENDPOINT", address)
	t.Setenv("IDENTITY_HEADER", "header")
	wantToken(t, identity.Azure(identity.AzureRedis), "for "+strings.TrimSuffix(identity.AzureRedis, "/.default"), time.Hour)
}

// spec: workload-identity
func TestTokensOfAWorkloadIdentityOfAzure(t *testing.T) {
	var s *httptest.Server
	s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
			_, _ = fmt.Fprintf(w, `{"token_endpoint":"%[1]s/tenant/oauth2/v2.0/token","authorization_endpoint":"%[1]s/tenant/a","issuer":"%[1]s/tenant/v2.0"}`, s.URL)
		case r.FormValue("client_assertion") == "of Kubernetes" && strings.Contains(r.FormValue("scope"), identity.AzurePostgres):
			_, _ = fmt.Fprint(w, `{"access_token":"workload","expires_in":3600,"token_type":"Bearer"}`)
		default:
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		}
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "assertion"), "of Kubernetes")
	write(t, filepath.Join(dir, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for name, value := range map[string]string{
		"SSL_CERT_FILE": filepath.Join(dir, "ca.pem"), "AZURE_FEDERATED_TOKEN_FILE": filepath.Join(dir, "assertion"),
		"AZURE_AUTHORITY_HOST": s.URL, "AZURE_CLIENT_ID": "client", "AZURE_TENANT_ID": "tenant",
	} {
		t.Setenv(name, value)
	}
	wantToken(t, identity.Azure(identity.AzurePostgres), "workload", time.Hour)
}

// sts has the process have the keys of a role, which end after the life.
func sts(t *testing.T, life time.Duration) {
	t.Helper()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "AssumeRoleWithWebIdentity" || r.FormValue("WebIdentityToken") != "of Kubernetes" || r.FormValue("RoleArn") != "arn:role" {
			http.Error(w, "wrong", http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKID</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>`+
			`<SessionToken>session</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			time.Now().Add(life).UTC().Format(time.RFC3339))
	})
	path := filepath.Join(t.TempDir(), "token")
	write(t, path, "of Kubernetes")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": "", "AWS_WEB_IDENTITY_TOKEN_FILE": path,
		"AWS_ROLE_ARN": "arn:role", "AWS_ENDPOINT_URL_STS": address, "AWS_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
}

func open(t *testing.T) *identity.AWS {
	t.Helper()
	a, err := identity.NewAWS("", nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// spec: workload-identity
func TestTokensOfRDSAndElastiCache(t *testing.T) {
	sts(t, time.Hour)
	for _, test := range []struct {
		fetch         credential.Fetch[string]
		host, service string
		query         map[string]string
	}{
		{open(t).RDS("db.example.com:5432", "prism"), "db.example.com:5432", "rds-db", map[string]string{"Action": "connect", "DBUser": "prism"}},
		{open(t).ElastiCache("locks", "prism", false), "locks", "elasticache", map[string]string{"Action": "connect", "User": "prism", "ResourceType": ""}},
		{open(t).ElastiCache("locks", "prism", true), "locks", "elasticache", map[string]string{"Action": "connect", "User": "prism", "ResourceType": "ServerlessCache"}},
	} {
		token, err := test.fetch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(token.End); left > 15*time.Minute || left < 14*time.Minute {
			t.Errorf("%v are left of the token", left)
		}
		host, rest, _ := strings.Cut(token.Value, "/?")
		query, err := url.ParseQuery(rest)
		if err != nil || host != test.host {
			t.Errorf("the token is for %s, %v", host, err)
		}
		test.query["X-Amz-Expires"], test.query["X-Amz-Security-Token"], test.query["X-Amz-Algorithm"] = "900", "session", "AWS4-HMAC-SHA256"
		for name, value := range test.query {
			if query.Get(name) != value {
				t.Errorf("%s is %q, want %q", name, query.Get(name), value)
			}
		}
		if scope := query.Get("X-Amz-Credential"); !strings.HasPrefix(scope, "AKID/") || !strings.HasSuffix(scope, "/eu-central-1/"+test.service+"/aws4_request") {
			t.Errorf("the scope is %s", scope)
		}
		if len(query.Get("X-Amz-Signature")) != 64 {
			t.Error("there is no signature")
		}
	}
}

// spec: workload-identity
func TestATokenOfAWSEndsWithItsKeys(t *testing.T) {
	sts(t, 5*time.Minute)
	token, err := open(t).RDS("db.example.com:5432", "prism")(t.Context())
	if left := time.Until(token.End); err != nil || left > 5*time.Minute {
		t.Errorf("%v are left of the token, %v", left, err)
	}
}

// spec: workload-identity
func TestRequestsAreSigned(t *testing.T) {
	sts(t, time.Hour)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://bedrock.example.com/openai/v1/chat/completions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t).Sign(t.Context(), request, [][]byte{[]byte("one "), []byte("body")}, "bedrock"); err != nil {
		t.Fatal(err)
	}
	authorization := request.Header.Get("Authorization")
	if !strings.HasPrefix(authorization, "AWS4-HMAC-SHA256 Credential=AKID/") || !strings.Contains(authorization, "/eu-central-1/bedrock/aws4_request") ||
		request.Header.Get("X-Amz-Security-Token") != "session" {
		t.Errorf("got %s", authorization)
	}
}

func TestARegionIsRequired(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	if _, err := identity.NewAWS("", nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
