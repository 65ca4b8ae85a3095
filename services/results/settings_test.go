package results

import (
	"log/slog"
	"strings"
	"testing"
)

// The region is a variable of the process.
//
// spec: workload-identity
func TestSettingsOfTokensThatDoNotFitAreNamed(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	const url = "postgres://u:secret@db.example.com/d?sslmode=verify-full"
	for _, test := range []struct {
		url     string
		secrets DatabaseSecrets
		want    string
	}{
		{url, DatabaseSecrets{Kind: "file"}, "PRISM_DATABASE_AUTH"},
		{"", DatabaseSecrets{Kind: "google"}, "PRISM_DATABASE_AUTH"},
		{"", DatabaseSecrets{Kind: "google", URLFile: "/nowhere"}, "PRISM_DATABASE_URL_FILE"},
		{url, DatabaseSecrets{Kind: "azure", PasswordFile: "/nowhere"}, "PRISM_DATABASE_PASSWORD_FILE"},
		{"postgres://u:secret@db.example.com/d?sslmode=disable", DatabaseSecrets{Kind: "azure"}, "PRISM_DATABASE_URL"},
		{url, DatabaseSecrets{Kind: "aws"}, "PRISM_DATABASE_AUTH: the region is missing"},
		{"postgres://u:secret@a,b/d?sslmode=verify-full", DatabaseSecrets{Kind: "aws"}, "PRISM_DATABASE_AUTH: a token of AWS is for one server"},
	} {
		_, _, err := Config{DatabaseURL: test.url, DatabaseSecrets: test.secrets}.postgres(nil, slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), test.want+": ") && !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", test.secrets.Kind, err)
		}
	}
	t.Setenv("AWS_REGION", "eu-1")
	for _, kind := range []string{"google", "azure", "aws"} {
		_, auth, err := Config{DatabaseURL: url, DatabaseSecrets: DatabaseSecrets{Kind: kind}}.postgres(nil, slog.New(slog.DiscardHandler))
		if err != nil || auth.Tokens == nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
