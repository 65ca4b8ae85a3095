package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// tokenLife is so short that a test needs some tokens, neededTokens of each kind.
const (
	tokenLife    = 20 * time.Second
	neededTokens = 3
)

// tokenServer gives tokens that end, and has another server accept each of them from when it is given.
type tokenServer struct {
	accept func(ctx context.Context, token string, end time.Time) error

	mu      sync.Mutex
	given   int
	current string
	end     time.Time
}

// token is the current token, or a new one if half of its life is over, as metadata servers have it.
func (s *tokenServer) token(ctx context.Context) (token string, end time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Until(s.end) < tokenLife/2 {
		s.given++
		s.current, s.end = fmt.Sprintf("token-%d", s.given), time.Now().Add(tokenLife)
		if err := s.accept(ctx, s.current, s.end); err != nil {
			return "", time.Time{}, err
		}
	}
	return s.current, s.end, nil
}

func (s *tokenServer) tokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// serve answers at a loopback address.
func (s *tokenServer) serve(t *testing.T, answer func(r *http.Request, token string, end time.Time) string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, end, err := s.token(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = fmt.Fprint(w, answer(r, token, end))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestTokensOfCloudsEndUnderLoad has the services use tokens of Entra at a Postgres, and of Google at a Redis, which each accept the
// tokens of their token server alone, until they end. No call fails. It is not parallel: a call also fails when the processors are so
// busy that no connection is open within postgres.DefaultAcquireWait.
// spec: workload-identity, tokens-are-renewed
func TestTokensOfCloudsEndUnderLoad(t *testing.T) {
	s, err := world.stacks[services].stack()
	if err != nil {
		t.Fatalf("the services did not start: %v", err)
	}
	postgres, atPostgres := postgresOfTokens(t)
	redis, atRedis := redisOfTokens(t)
	entra := atPostgres.serve(t, func(_ *http.Request, token string, end time.Time) string {
		return fmt.Sprintf(`{"access_token":%q,"expires_on":"%d","token_type":"Bearer","resource":"r"}`, token, end.Unix())
	})
	google := atRedis.serve(t, func(_ *http.Request, token string, end time.Time) string {
		return fmt.Sprintf(`{"access_token":%q,"expires_in":%d,"token_type":"Bearer"}`, token, int(time.Until(end).Seconds()))
	})
	own := s.private(t, map[string]string{
		"PRISM_DATABASE_URL": postgres, "PRISM_DATABASE_AUTH": "azure", "IDENTITY_ENDPOINT": entra, "IDENTITY_HEADER": "header",
		"PRISM_REDIS_URL": redis.TCPURL(), "PRISM_REDIS_USERNAME": "prism", "PRISM_REDIS_AUTH": "google",
		"GCE_METADATA_HOST": strings.TrimPrefix(google, "http://"),
	})
	prism := own.main.triage(t)
	var calls, failed atomic.Int64
	var callers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer callers.Wait()
	defer stop()
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil && failed.Load() == 0 {
				r, err := own.main.try(t, call{path: "/v1/prisms/" + prism + "/results", body: text("x", "idempotency_key", newKey())})
				if err != nil || r.status != http.StatusOK {
					failed.Add(1)
					t.Errorf("a call failed: %d, %v", r.status, err)
				}
				calls.Add(1)
			}
		})
	}
	tick, late := time.NewTicker(50*time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for failed.Load() == 0 && min(atPostgres.tokens(), atRedis.tokens()) < neededTokens {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%d and %d tokens were given", atPostgres.tokens(), atRedis.tokens())
		}
	}
	stop()
	callers.Wait()
	t.Logf("%d calls, %d failed", calls.Load(), failed.Load())
	if auths := askRedis(t, redis, "INFO commandstats"); !strings.Contains(auths, "cmdstat_auth:") || !strings.Contains(auths, "cmdstat_set:") {
		t.Errorf("the locks are not in Redis, or its connections did not authenticate again: %s", auths)
	}
}

// postgresOfTokens is the URL of a Postgres that lets the user prism in by a token.
func postgresOfTokens(t *testing.T) (address string, tokens *tokenServer) {
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
	admin := func(ctx context.Context, statement string, into ...any) (err error) {
		conn, err := pgx.Connect(ctx, server.URL("postgres"))
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		if len(into) > 0 {
			return conn.QueryRow(ctx, statement).Scan(into...)
		}
		_, err = conn.Exec(ctx, statement)
		return err
	}
	var folder string
	if err := admin(t.Context(), "SELECT setting FROM pg_settings WHERE name = 'data_directory'", &folder); err != nil {
		t.Fatal(err)
	}
	rules := "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n" //nolint:dupword // all databases and all roles
	if out, err := server.Command(t.Context(), "sh", "-c", `printf %s "$1" > "$2/pg_hba.conf"`, "sh", rules, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, statement := range []string{"SELECT pg_reload_conf()", "CREATE ROLE prism LOGIN", "CREATE DATABASE prism OWNER prism"} {
		if err := admin(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(server.TCPURL(server.TCPAddr(), "prism"))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("prism")
	return u.String(), &tokenServer{accept: func(ctx context.Context, token string, end time.Time) error {
		return admin(ctx, fmt.Sprintf("ALTER ROLE prism PASSWORD '%s' VALID UNTIL '%s'", token, end.Format(time.RFC3339Nano)))
	}}
}

// redisOfTokens is a Redis that lets the user prism in by a token that has not ended.
func redisOfTokens(t *testing.T) (*redistest.Server, *tokenServer) {
	t.Helper()
	server := redistest.New(t, redistest.Options{TCP: true})
	ends := map[string]time.Time{}
	return server, &tokenServer{accept: func(_ context.Context, token string, end time.Time) error {
		command := "ACL SETUSER prism on ~* +@all >" + token
		for before, ended := range ends {
			if time.Now().After(ended) {
				command += " <" + before
				delete(ends, before)
			}
		}
		ends[token] = end
		askRedis(t, server, command)
		return nil
	}}
}

// askRedis sends a command to Redis as its administrator, and returns what Redis says until it is silent.
func askRedis(t *testing.T, server *redistest.Server, command string) (answer string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", strings.TrimPrefix(server.URL(), "unix://"))
	if err != nil {
		t.Errorf("Redis: %v", err)
		return ""
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "%s\r\nQUIT\r\n", command); err != nil {
		t.Errorf("Redis: %v", err)
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		answer += lines.Text() + "\n"
	}
	if strings.HasPrefix(answer, "-") {
		t.Errorf("%s: Redis said %s", command, answer)
	}
	return answer
}
