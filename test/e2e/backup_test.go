package e2e

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/s3test"
)

// TestBackup runs the commands of docs/backup.md around calls, and holds what the page says that callers see after a restore.
func TestBackup(t *testing.T) {
	only(t, standalone, func(t *testing.T, s *stack) {
		t.Run("Postgres", func(t *testing.T) {
			t.Parallel()
			backsUpPostgres(t, s)
		})
		t.Run("SQLite", func(t *testing.T) {
			t.Parallel()
			backsUpSQLite(t, s)
		})
		t.Run("Postgres and a bucket", func(t *testing.T) {
			t.Parallel()
			backsUpBucket(t, s)
		})
	})
}

// backupServer starts a Postgres with a database, and returns it with the page for its machine, whose addresses and folders are its.
func backupServer(t *testing.T) (server *pgtest.Server, page backupPage, folder, restored string) {
	t.Helper()
	server, err := pgtest.Start(t.Context(), pgtest.Options{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if restored, err = freeport.Addr(); err != nil {
		t.Fatal(err)
	}
	folder = server.Command(t.Context(), "true").Dir
	// These settings are arguments of the server, which the base backup does not have.
	if err := server.Exec(t.Context(), "CREATE DATABASE prism", "ALTER SYSTEM SET max_connections = 300",
		"ALTER SYSTEM SET unix_socket_directories = '"+folder+"'"); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(restored)
	page = backupPage{
		steps: newGuide(t, "docs/backup.md"),
		shell: func(script string) *exec.Cmd {
			return server.Command(context.WithoutCancel(t.Context()), "bash", "-c", script)
		},
		own: strings.NewReplacer("prism:password@127.0.0.1:5432", "postgres@"+server.TCPAddr(),
			"prism:password@127.0.0.1:5433", "postgres@"+restored,
			"port = 5433", "port = "+port, "/var/backups/prism", folder+"/backups", "/var/lib/prism-restored", folder+"/restored"),
	}
	page.run(t, "mkdir "+folder+"/backups")
	return server, page, folder, restored
}

func backsUpPostgres(t *testing.T, s *stack) {
	t.Helper()
	server, page, folder, restored := backupServer(t)
	original := server.TCPURL(server.TCPAddr(), "prism")
	own := s.private(t, map[string]string{"PRISM_DATABASE_URL": original})
	use := func(url string) {
		own.front.Env["PRISM_DATABASE_URL"] = url
		own.restart(t, syscall.SIGTERM)
	}

	life, others := newLifetime(t, own), newBusy(t, own)
	page.during(t, others, "Postgres: a dump")
	life.change(t)
	page.follow(t, "export PRISM_DATABASE_URL="+original+"\n", "Restore a dump", "Verify")
	use(server.TCPURL(server.TCPAddr(), "prism_restored"))
	life.restored(t)
	others.restored(t)

	use(original)
	others.pause(t)
	page.follow(t, "", "Archive the log")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	use(original)
	others = newBusy(t, own)
	page.during(t, others, "Take a base backup")
	others.least = len(others.writes) // the archive has those since
	life = newLifetime(t, own)        // is in the archive alone
	others.pause(t)
	count := "export RESTORED_URL=" + original + "\n"
	before := page.follow(t, count, "Verify")
	page.follow(t, "", "Name a moment")
	life.change(t)
	if page.follow(t, count, "Verify") == before {
		t.Error("the counts do not show the calls since the backup")
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { page.run(t, "pg_ctl --pgdata="+folder+"/restored --mode=immediate stop") })
	const showLog = "trap 'cat /var/lib/prism-restored/log' ERR\n"
	if after := page.follow(t, showLog, "Restore to a point in time", "Verify"); after != before {
		t.Errorf("the restored database has\n%s, want\n%s", after, before)
	}
	use(server.TCPURL(restored, "prism"))
	life.restored(t)
	others.post(t, "/v1/runs/"+others.run+"/resume", "")
	others.restored(t)
}

func backsUpSQLite(t *testing.T, s *stack) {
	t.Helper()
	folder, backups := t.TempDir(), t.TempDir()
	page := backupPage{
		steps: newGuide(t, "docs/backup.md"),
		shell: func(script string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
			cmd.Dir = folder
			return cmd
		},
		own: strings.NewReplacer("/var/backups/prism", backups),
	}
	own := s.private(t, map[string]string{"PRISM_DATA_DIR": filepath.Join(folder, ".prism")})
	life, others := newLifetime(t, own), newBusy(t, own)
	page.during(t, others, "SQLite", "A folder")
	life.change(t)
	if err := own.front.Stop(); err != nil {
		t.Fatal(err)
	}
	page.follow(t, "", "Restore the file")
	verify, _ := page.script(t, "Verify")
	page.run(t, strings.Replace(verify, `psql "$RESTORED_URL" --command=`, "sqlite3 .prism/prism.db ", 1))
	if err := own.front.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	life.restored(t)
	others.restored(t)
}

// syncedBuckets stands for the command line of AWS, which copies the objects of one bucket to another.
const syncedBuckets = `aws() {
	[ "$1 $2" = "s3 sync" ] && [ $# = 4 ] && mkdir -p "$BUCKETS/${4#s3://}" && cp -R "$BUCKETS/${3#s3://}/." "$BUCKETS/${4#s3://}"
}
`

func backsUpBucket(t *testing.T, s *stack) {
	t.Helper()
	server, page, _, _ := backupServer(t)
	objects := s3test.New(t)
	bucket := backupPage{
		steps: page.steps,
		shell: func(script string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", syncedBuckets+script)
			cmd.Env = append(cmd.Environ(), "BUCKETS="+objects.Folder)
			return cmd
		},
		own: strings.NewReplacer("my-bucket", s3test.Bucket),
	}
	in := func(name string) string {
		bucket, query, _ := strings.Cut(s3test.URL(name, objects.Endpoint), "?")
		return bucket + "/prism?" + query
	}
	original := server.TCPURL(server.TCPAddr(), "prism")
	own := s.private(t, map[string]string{
		"PRISM_DATABASE_URL": original, "PRISM_FILES_URL": in(s3test.Bucket),
		"AWS_ACCESS_KEY_ID": s3test.Access, "AWS_SECRET_ACCESS_KEY": s3test.Secret,
	})
	life, others := newLifetime(t, own), newBusy(t, own)
	page.during(t, others, "Postgres: a dump")
	bucket.during(t, others, "A bucket")
	life.change(t)
	if err := own.front.Stop(); err != nil {
		t.Fatal(err)
	}
	page.follow(t, "export PRISM_DATABASE_URL="+original+"\n", "Restore a dump")
	bucket.follow(t, "", "Restore a bucket")
	own.front.Env["PRISM_DATABASE_URL"] = server.TCPURL(server.TCPAddr(), "prism_restored")
	own.front.Env["PRISM_FILES_URL"] = in("my-restored-bucket")
	if err := own.front.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	life.restored(t)
	others.restored(t)
}

// backupPage is docs/backup.md with a shell for its commands, whose paths and addresses own replaces.
type backupPage struct {
	steps guide
	shell func(script string) *exec.Cmd
	own   *strings.Replacer
}

// script is all commands below the headings.
func (p backupPage) script(t *testing.T, headings ...string) (script string, steps guide) {
	t.Helper()
	found := 0
	for _, heading := range headings {
		for _, step := range p.steps {
			if step.under == heading {
				script += "printf '\\0'\n" + p.own.Replace(step.commands)
				steps = append(steps, step)
			}
		}
		if len(steps) == found {
			t.Fatalf("docs/backup.md has no commands below %q", heading)
		}
		found = len(steps)
	}
	return script, steps
}

// follow runs all commands below the headings in one shell, after those of setup, and returns what those of the last heading
// print.
func (p backupPage) follow(t *testing.T, setup string, headings ...string) (printed string) {
	t.Helper()
	script, steps := p.script(t, headings...)
	parts := strings.Split(p.run(t, p.own.Replace(setup)+script), stepMark)[1:]
	for i, step := range steps {
		step.check(t, parts[i])
	}
	return parts[len(parts)-1]
}

// during runs all commands below the headings while an account writes.
func (p backupPage) during(t *testing.T, others *busy, headings ...string) {
	t.Helper()
	script, _ := p.script(t, headings...)
	ended := make(chan error, 1)
	go func() {
		_, err := p.try(script)
		ended <- err
	}()
	for {
		others.write(t)
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			others.write(t)
			return
		default:
		}
	}
}

// run runs a script that stops at the first error.
func (p backupPage) run(t *testing.T, script string) string {
	t.Helper()
	out, err := p.try(script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (p backupPage) try(script string) (string, error) {
	out, err := p.shell("set -euo pipefail\n" + script).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s\n%s", err, script, out)
	}
	return string(out), nil
}

// lifetime is what an account has at the time of a backup, and what it changes afterwards.
type lifetime struct {
	*client
	prism, key, cursor string
	kept, lost         result
	asIs               reply // kept, with every probability
	lostKey            string
	revoked            *client
	revokedID          string
	session            *consolePage
	signedIn           string // what the session says
	reads              map[string]string
}

func newLifetime(t *testing.T, s *stack) *lifetime {
	t.Helper()
	l := &lifetime{client: s.main, prism: s.main.triage(t), key: newKey(), lostKey: newKey()}
	l.create(t, l.prism, text("first")).ok(t)
	l.kept = l.create(t, l.prism, text("kept", "idempotency_key", l.key)).ok(t)
	l.asIs = l.read(t, l.kept.ID, "raw")
	l.revoked, l.revokedID = l.newAPIKey(t)
	var page idPage
	l.get(t, "/v1/results?limit=1&prism="+l.prism).decode(t, &page)
	l.cursor = *page.NextCursor
	l.furnish(t)
	l.session, _ = s.signIn(t, l.account)
	l.signedIn = l.whoIsSignedIn(t)
	l.reads = l.everything(t)
	return l
}

// untilUsed is when a session ends unless it is used: its uses move it.
var untilUsed = regexp.MustCompile(`"expires_at":"[^"]*",`)

func (l *lifetime) whoIsSignedIn(t *testing.T) string {
	t.Helper()
	status, _, body := l.session.ask(t, "GET", "/console/session", "")
	if status != 200 {
		t.Errorf("the session: %d %s", status, body)
	}
	return untilUsed.ReplaceAllString(body, "")
}

// change is what the restore loses.
func (l *lifetime) change(t *testing.T) {
	t.Helper()
	l.version(t, twoFields, triageQuestions)
	l.lost = l.create(t, l.prism, object("fields", raw(`{"subject":"a","message":"lost"}`), "idempotency_key", l.lostKey)).ok(t)
	l.post(t, "/v1/keys/"+l.revokedID+"/revoke", "").wantStatus(t, 200)
	l.revoked.get(t, "/v1/prisms").wantFail(t, invalidKey)
	for _, path := range l.paths(t, "/v1/files/{file_id}") {
		l.delete(t, path).wantStatus(t, 204)
	}
	cookie := l.session.cookie
	l.session.ask(t, "DELETE", "/console/session", "")
	l.session.cookie = cookie // as whoever has stolen it
	if status, _, body := l.session.ask(t, "GET", "/console/session", ""); status != 401 {
		t.Errorf("the session that was ended: %d %s", status, body)
	}
}

func (l *lifetime) version(t *testing.T, fields, questions string) {
	t.Helper()
	l.post(t, "/v1/prisms/"+l.prism+"/versions", object("fields", raw(fields), "questions", raw(questions))).wantStatus(t, 201)
}

// restored checks each row of the table "After a restore" that the API shows.
func (l *lifetime) restored(t *testing.T) {
	t.Helper()
	l.wantEverything(t, l.reads)
	wantEqual(t, "the session", l.whoIsSignedIn(t), l.signedIn)
	l.read(t, l.kept.ID, "raw").wantBody(t, string(l.asIs.body))
	l.read(t, l.lost.ID, "").wantFail(t, noResult)
	repeat := l.create(t, l.prism, text("kept", "idempotency_key", l.key)).ok(t)
	wantEqual(t, "the result of a kept idempotency key", repeat.ID, l.kept.ID)
	again := l.create(t, l.prism, text("lost", "idempotency_key", l.lostKey)).ok(t)
	if again.ID == l.lost.ID || again.Version != 1 {
		t.Errorf("the repeat of a lost call is %s of version %d", again.ID, again.Version)
	}
	l.get(t, "/v1/results?limit=1&prism="+l.prism+"&cursor="+l.cursor).wantStatus(t, 200)
	l.revoked.get(t, "/v1/prisms").wantStatus(t, 200)
	if _, err := l.stack.store.Operate(t.Context(), "key", "revoke", l.revokedID); err != nil {
		t.Error(err)
	}
	l.revoked.get(t, "/v1/prisms").wantFail(t, invalidKey)
	// The number of the lost version, with other questions.
	l.version(t, oneField, yesNo)
	next := l.create(t, l.prism, text("next")).ok(t)
	wantEqual(t, "the version", next.Version, 2)
	if len(next.Answers) == 0 || len(next.Answers) >= len(l.lost.Answers) {
		t.Errorf("the answers are %s", next.Answers)
	}
}
