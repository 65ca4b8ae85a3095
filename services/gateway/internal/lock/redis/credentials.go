package redis

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/auth"

	"github.com/prism-results/prism/pkg/credential"
)

// followPeriod is how often the source is asked whether there is another password.
const followPeriod = 250 * time.Millisecond

// errNoToken is why a connection is not opened.
var errNoToken = errors.New("lock: there is no token for Redis yet")

// following gives the password of a source to connections: to new ones, and to live ones when there is another one, which then
// authenticate again (spec: secrets-from-files). It implements auth.StreamingCredentialsProvider.
type following struct {
	source   credential.Source
	username string

	mu        sync.Mutex
	shown     string // the password that listeners know
	listeners map[auth.CredentialsListener]struct{}
}

func newFollowing(source credential.Source, username string) *following {
	return &following{source: source, username: username, listeners: map[auth.CredentialsListener]struct{}{}}
}

// follows reports whether the connections follow a source. Their user is that of the URL unless another one is configured.
func (f *following) follows(username string) bool {
	if f != nil && f.username == "" {
		f.username = username
	}
	return f != nil
}

// Subscribe implements auth.StreamingCredentialsProvider.
func (f *following) Subscribe(l auth.CredentialsListener) (auth.Credentials, auth.UnsubscribeFunc, error) {
	password := f.source.Secret()
	if password == "" {
		return nil, nil, errNoToken
	}
	f.mu.Lock()
	f.listeners[l] = struct{}{}
	f.mu.Unlock()
	f.tell(password) // this connection may be the first to see it
	return auth.NewBasicCredentials(f.username, password), func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, l)
		return nil
	}, nil
}

// run tells the connections of each new password until ctx ends.
func (f *following) run(ctx context.Context) {
	tick := time.NewTicker(followPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.tell(f.source.Secret())
		}
	}
}

// tell has the live connections authenticate by a password, if it is not the one they know.
func (f *following) tell(password string) {
	if password == "" { // of a token that ended: connections go on while Redis lets them
		return
	}
	f.mu.Lock()
	before := f.shown
	f.shown = password
	var told []auth.CredentialsListener
	if before != "" && before != password {
		for l := range f.listeners {
			told = append(told, l)
		}
	}
	f.mu.Unlock()
	for _, l := range told {
		l.OnNext(auth.NewBasicCredentials(f.username, password))
	}
}

// refused tells the source of a password that Redis refused.
func (f *following) refused(err error) {
	if refusal, ok := err.(goredis.Error); ok && strings.HasPrefix(refusal.Error(), "WRONGPASS") { //nolint:errorlint // goredis.Error is an interface that other errors have too
		f.mu.Lock()
		shown := f.shown
		f.mu.Unlock()
		f.source.Refused(shown)
	}
}

// authenticateAt is called for each new connection of a client that finds its server through Sentinels, and shows the password of the
// source to Sentinels. The client itself would show them the password that it was made with.
func authenticateAt(sentinels credential.Source) func(context.Context, *goredis.Conn) error {
	return func(ctx context.Context, conn *goredis.Conn) error {
		if strings.HasPrefix(conn.String(), "Redis<FailoverClient ") { // the server, as the client calls it
			return nil
		}
		password := sentinels.Secret()
		err := conn.Auth(ctx, password).Err()
		if refusal, ok := err.(goredis.Error); ok && strings.HasPrefix(refusal.Error(), "WRONGPASS") { //nolint:errorlint // goredis.Error is an interface that other errors have too
			sentinels.Refused(password)
		}
		return err
	}
}
