package redis

import (
	"errors"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// connect makes the client that a URL's scheme asks for.
func connect(url string, c Config, live *following) (goredis.UniversalClient, error) {
	scheme, rest, _ := strings.Cut(url, "://")
	server, kind, _ := strings.Cut(scheme, "+")
	switch kind {
	case "":
		return connectServer(url, c, live)
	case "sentinel":
		return connectSentinels(server+"://"+rest, c, live)
	case "cluster":
		return connectCluster(server+"://"+rest, c, live)
	}
	return nil, errors.New("unknown kind of Redis")
}

func connectServer(url string, c Config, live *following) (goredis.UniversalClient, error) {
	o, err := goredis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	c.apply(&o.Username, &o.Password, &o.DialTimeout, &o.PoolTimeout, &o.ReadTimeout, &o.WriteTimeout)
	if live.follows(o.Username) {
		o.StreamingCredentialsProvider = live
	}
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = noRetry, 1, true
	o.DisableIdentity, o.MaintNotificationsConfig = true, plain()
	return goredis.NewClient(o), nil
}

func connectSentinels(url string, c Config, live *following) (goredis.UniversalClient, error) {
	o, err := goredis.ParseFailoverURL(url)
	if err != nil {
		return nil, err
	}
	if o.MasterName == "" {
		return nil, errors.New("master_name is missing")
	}
	c.apply(&o.Username, &o.Password, &o.DialTimeout, &o.PoolTimeout, &o.ReadTimeout, &o.WriteTimeout)
	if live.follows(o.Username) {
		o.StreamingCredentialsProvider = live
	}
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = noRetry, 1, true
	if c.SentinelPassword != "" {
		o.SentinelUsername, o.SentinelPassword = "", c.SentinelPassword
	}
	if c.SentinelPasswords != nil {
		o.SentinelUsername, o.SentinelPassword, o.OnConnect = "", "", authenticateAt(c.SentinelPasswords)
	}
	o.DisableIdentity = true
	return goredis.NewFailoverClient(o), nil
}

func connectCluster(url string, c Config, live *following) (goredis.UniversalClient, error) {
	o, err := goredis.ParseClusterURL(url)
	if err != nil {
		return nil, err
	}
	c.apply(&o.Username, &o.Password, &o.DialTimeout, &o.PoolTimeout, &o.ReadTimeout, &o.WriteTimeout)
	if live.follows(o.Username) {
		o.StreamingCredentialsProvider = live
	}
	// The client still follows a redirect to another node.
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = noRetry, 1, true
	o.DisableIdentity, o.MaintNotificationsConfig = true, plain()
	return goredis.NewClusterClient(o), nil
}

// noRetry: a caller learns at once that there is no lock. The next caller tries again.
const noRetry = -1

// apply sets the options that a server, sentinels and a cluster share. Without a password, that of the URL stays.
func (c Config) apply(username, password *string, timeouts ...*time.Duration) {
	for _, t := range timeouts {
		*t = c.CommandTimeout
	}
	if c.Password != "" {
		*username, *password = c.Username, c.Password
	}
}

// plain turns off notifications of the server's maintenance. Like the client's name, they would cost round trips on each
// new connection.
func plain() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}
