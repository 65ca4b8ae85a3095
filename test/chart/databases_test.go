package chart

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/prism-results/prism/services/results"
)

// severalDatabases are values of three databases, of which one is behind an address of IPv6 and one has tokens.
const severalDatabases = `
postgres:
  existingSecret: ""
  host: ""
  databases:
    home: {host: home.example.com, username: "prism@results", existingSecret: pg-home}
    east: {host: "fd00::1", port: 6432, database: east, sslMode: require, username: p, existingSecret: pg-east, passwordKey: p, accepting: false}
    west: {host: west.example.com, port: 7432, username: p, auth: aws, weight: 3, directSecret: pg-direct}
`

// withDatabases are severalDatabases with a change to their values.
func withDatabases(old, replacement string) string {
	if !strings.Contains(severalDatabases, old) {
		panic(old)
	}
	return strings.Replace(severalDatabases, old, replacement, 1)
}

// databasesFile writes a file of the ConfigMap where a program of this test finds it, with the passwords that its Pod has.
func databasesFile(t *testing.T, r rendering, key string, template corev1.PodTemplateSpec, c corev1.Container) string {
	t.Helper()
	folder := t.TempDir()
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if v := template.Spec.Volumes[i]; v.Secret != nil && (strings.HasPrefix(m.MountPath, "/etc/prism/postgres") || strings.HasPrefix(m.MountPath, "/etc/prism/direct-")) {
			at := filepath.Join(folder, m.MountPath)
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{
				"password": "of " + v.Secret.SecretName, "p": "of " + v.Secret.SecretName, "url": "postgres://owner:p@west.example.com/prism",
			} {
				if err := os.WriteFile(filepath.Join(at, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	text := strings.ReplaceAll(one[corev1.ConfigMap](t, r, "prism-databases").Data[key], "/etc/prism/", folder+"/etc/prism/")
	path := filepath.Join(folder, key)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// spec: databases-file
func TestTheFileOfDatabasesIsWhatResultsReads(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-1")
	for mode, migrates := range map[string]bool{"start": false, "initContainer": true, "job": true} {
		values := []string{severalDatabases, "migrations: {mode: " + mode + "}"}
		if migrates {
			values = append(values, "migrations: {postgres: {databases: {home: {username: owner, existingSecret: pg-owner}}}}")
		}
		r := render(t, with(t, values...))
		template := *workload(t, r, "results").template
		c := *container(t, workload(t, r, "results"))
		if got := environment(c)["PRISM_DATABASES_FILE"]; got != "/etc/prism/databases/postgres.yaml" {
			t.Errorf("%s: the file is %q", mode, got)
		}
		if _, set := environment(c)["PRISM_DATABASE_URL"]; set {
			t.Errorf("%s: PRISM_DATABASE_URL is set too", mode)
		}
		opens(t, mode, databasesFile(t, r, "postgres.yaml", template, c))
		if !migrates {
			continue
		}
		if mode == "job" {
			c = of[batchv1.Job](r)[0].it.Spec.Template.Spec.Containers[0]
			template = of[batchv1.Job](r)[0].it.Spec.Template
		} else {
			c = template.Spec.InitContainers[0]
		}
		if got := environment(c)["PRISM_DATABASES_FILE"]; got != "/etc/prism/databases/postgres-migrate.yaml" {
			t.Errorf("%s: the file of migrations is %q", mode, got)
		}
		path := databasesFile(t, r, "postgres-migrate.yaml", template, c)
		opens(t, mode, path)
		text, err := os.ReadFile(path)
		password, missing := os.ReadFile(filepath.Join(filepath.Dir(path), "etc/prism/postgres-migrate-home/password"))
		if errors.Join(err, missing) != nil || !strings.Contains(string(text), "postgres://owner@home.example.com") || string(password) != "of pg-owner" {
			t.Errorf("%s: migrations of home are by\n%s%s, %v", mode, text, password, missing)
		}
	}
}

// opens has results read a file, and connect to nothing.
func opens(t *testing.T, mode, path string) {
	t.Helper()
	service, err := results.Open(t.Context(), results.Config{DatabasesFile: path}, results.Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Errorf("%s: %v", mode, err)
		return
	}
	service.Close()
}

func TestTheFileOfDatabasesSaysWhatTheValuesSay(t *testing.T) {
	t.Parallel()
	const want = `databases:
  east:
    accepting: false
    password_file: /etc/prism/postgres-east/p
    url: postgres://p@[fd00::1]:6432/east?sslmode=require
  west:
    auth: aws
    direct_url_file: /etc/prism/direct-west/url
    url: postgres://p@west.example.com:7432/prism?sslmode=verify-full
    weight: 3
home:
  password_file: /etc/prism/postgres-home/password
  url: postgres://prism%40results@home.example.com:5432/prism?sslmode=verify-full`
	if got := one[corev1.ConfigMap](t, render(t, with(t, severalDatabases)), "prism-databases").Data["postgres.yaml"]; got != want {
		t.Errorf("got\n%s", got)
	}
}

// What Prism reads again replaces no Pod, and what it does not replaces those of results alone.
func TestOnlyAnotherSetOfDatabasesReplacesPods(t *testing.T) {
	t.Parallel()
	before := render(t, with(t, severalDatabases))
	for change, replaces := range map[string]bool{
		withDatabases("weight: 3", "weight: 4"):                            false,
		withDatabases("accepting: false", "accepting: true"):               false,
		withDatabases("host: west.example.com", "host: other.example.com"): false,
		withDatabases("    west: {", "    north: {"):                       true,
		withDatabases("auth: aws", "auth: google"):                         true,
		withDatabases(", directSecret: pg-direct", ""):                     true,
	} {
		after := render(t, with(t, change))
		if one[corev1.ConfigMap](t, before, "prism-databases").Data["postgres.yaml"] == one[corev1.ConfigMap](t, after, "prism-databases").Data["postgres.yaml"] {
			t.Error("the file is the same")
		}
		for _, o := range of[appsv1.Deployment](before) {
			changed := workload(t, after, component(o.object)).text != o.text
			if changed != (replaces && component(o.object) == "results") {
				t.Errorf("%s changes: %t, with%s", o.what, changed, change)
			}
		}
	}
}

func TestResultsReachEachDatabase(t *testing.T) {
	t.Parallel()
	r := render(t, with(t, severalDatabases, "migrations: {mode: job}"))
	for _, name := range []string{"results", "migrate"} {
		var ports []string
		for _, p := range of[networkingv1.NetworkPolicy](r) {
			if component(p.object) != name {
				continue
			}
			for _, rule := range p.it.Spec.Egress {
				for _, port := range rule.Ports {
					ports = append(ports, fmt.Sprint(port.Port))
				}
			}
		}
		for _, want := range []string{"5432", "6432", "7432"} {
			if !slices.Contains(ports, want) {
				t.Errorf("%s is not let out to %s: %q", name, want, ports)
			}
		}
	}
}
