// Package identity gets tokens for the identity that the platform gives to the process: a service account of Google, a managed or
// workload identity of Entra, a role of AWS. Nothing here is a password (spec: workload-identity).
package identity

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"

	"cloud.google.com/go/compute/metadata"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The kinds of identities, as settings name them.
const (
	KindGoogle = "google"
	KindAzure  = "azure"
	KindAWS    = "aws"
)

// Kinds are the kinds of identities.
func Kinds() []string { return []string{KindGoogle, KindAzure, KindAWS} }

// What tokens are for.
const (
	GoogleSQL   = "https://www.googleapis.com/auth/sqlservice.login"
	GoogleCloud = "https://www.googleapis.com/auth/cloud-platform"

	AzurePostgres = "https://ossrdbms-aad.database.windows.net/.default"
	AzureRedis    = "https://redis.azure.com/.default"
	AzureModels   = "https://cognitiveservices.azure.com/.default"
)

// requestWait bounds one request for a token.
const requestWait = 5 * time.Second

// Google gets tokens of a service account: that of the file GOOGLE_APPLICATION_CREDENTIALS, which may also be a federated
// identity, else that of the metadata server.
func Google(scope string) credential.Fetch[string] {
	return func(ctx context.Context) (credential.Ending[string], error) {
		if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" {
			return ofMetadata(ctx, scope)
		}
		// The library has no context for a token: the client's bound is that of each request.
		client := &http.Client{Timeout: requestWait}
		found, err := google.FindDefaultCredentials(context.WithValue(ctx, oauth2.HTTPClient, client), scope)
		if err != nil {
			return credential.Ending[string]{}, err
		}
		token, err := found.TokenSource.Token()
		if err != nil {
			return credential.Ending[string]{}, err
		}
		return credential.Ending[string]{Value: token.AccessToken, End: token.Expiry}, nil
	}
}

// ofMetadata asks the metadata server itself: the library of OAuth remembers for ever that there was none when a Pod began.
func ofMetadata(ctx context.Context, scope string) (token credential.Ending[string], err error) {
	asked := time.Now()
	text, err := metadata.GetWithContext(ctx, "instance/service-accounts/default/token?"+url.Values{"scopes": {scope}}.Encode())
	if err != nil {
		return token, err
	}
	var answer struct {
		Token   string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	if strictjson.Unmarshal([]byte(text), &answer) != nil || answer.Token == "" {
		return token, errors.New("the metadata server answered without a token")
	}
	return credential.Ending[string]{Value: answer.Token, End: asked.Add(time.Duration(answer.Seconds) * time.Second)}, nil
}

// Azure gets tokens of Entra: of the workload identity of AZURE_FEDERATED_TOKEN_FILE, else of the managed identity, which
// AZURE_CLIENT_ID names if there are several.
func Azure(scope string) credential.Fetch[string] {
	var known azcore.TokenCredential // one fetch runs at a time
	return func(ctx context.Context) (credential.Ending[string], error) {
		if known == nil {
			made, err := azureIdentity()
			if err != nil {
				return credential.Ending[string]{}, err
			}
			known = made
		}
		token, err := known.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
		return credential.Ending[string]{Value: token.Token, End: token.ExpiresOn}, err
	}
}

func azureIdentity() (azcore.TokenCredential, error) {
	client := azcore.ClientOptions{Transport: &http.Client{Timeout: requestWait}}
	if os.Getenv("AZURE_FEDERATED_TOKEN_FILE") != "" {
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: client,
			// An authority that is named needs no question to the public one whether it is genuine.
			DisableInstanceDiscovery: os.Getenv("AZURE_AUTHORITY_HOST") != "",
		})
	}
	options := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: client}
	if id := os.Getenv("AZURE_CLIENT_ID"); id != "" {
		options.ID = azidentity.ClientID(id)
	}
	return azidentity.NewManagedIdentityCredential(options)
}

// Region is the region of AWS that the process has, or "".
func Region() string { return cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")) }
