package credential

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/prism-results/prism/pkg/reload"
)

// fetchWait bounds each request for credentials or for a token, in all its attempts.
const fetchWait = 10 * time.Second

// AWSKeys are the credentials of AWS that the process has: those of the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else
// of the file AWS_SHARED_CREDENTIALS_FILE, which is read again when it changes, else of the role of the machine or Pod (web identity
// of EKS, the container's endpoint of ECS and EKS, IMDSv2 of EC2), which are renewed before they end.
func AWSKeys(log *slog.Logger) (*credentials.Credentials, error) {
	chain := []credentials.Provider{&credentials.EnvAWS{}}
	if path := os.Getenv("AWS_SHARED_CREDENTIALS_FILE"); path != "" {
		keys, err := newKeysFile(path, log)
		if err != nil {
			return nil, fmt.Errorf("AWS_SHARED_CREDENTIALS_FILE: %w", err)
		}
		chain = append(chain, keys)
	}
	role := &credentials.IAM{Client: &http.Client{Timeout: fetchWait}}
	switch {
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		role.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS")
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") == "" && os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") == "":
		role.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	}
	return credentials.NewChainCredentials(append(chain, role)), nil
}

// keysFile is the provider of the credentials of a file in the form of AWS.
type keysFile struct {
	value *reload.Value[credentials.Value]
	shown credentials.Value
}

func newKeysFile(path string, log *slog.Logger) (*keysFile, error) {
	value, err := reload.New(log, func([][]byte) (credentials.Value, error) {
		keys, err := (&credentials.FileAWSCredentials{Filename: path}).RetrieveWithCredContext(nil)
		if err != nil || keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
			// err may repeat a line of the file.
			return credentials.Value{}, fmt.Errorf("%s: must have aws_access_key_id and aws_secret_access_key of the profile", path)
		}
		return keys, nil
	}, path)
	return &keysFile{value: value}, err
}

// RetrieveWithCredContext implements credentials.Provider.
func (f *keysFile) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return f.Retrieve()
}

// Retrieve implements credentials.Provider.
func (f *keysFile) Retrieve() (credentials.Value, error) {
	f.shown = f.value.Get()
	return f.shown, nil
}

// IsExpired implements credentials.Provider. credentials.Credentials calls it under a lock of its own.
func (f *keysFile) IsExpired() bool { return f.value.Get() != f.shown }
