package modelsfile

import (
	"cmp"
	"crypto/x509"
	"net/url"

	"golang.org/x/net/http/httpproxy"

	"github.com/prism-results/prism/pkg/yamlfile"
)

// EnvironmentProxy returns the proxy for an address, as HTTPS_PROXY and NO_PROXY of the environment say; nil is none
// (spec: upstream-proxies). HTTP_PROXY is for addresses without TLS, which are not on the internet.
func EnvironmentProxy(getenv func(name string) string) func(*url.URL) (*url.URL, error) {
	environment := httpproxy.Config{
		HTTPSProxy: cmp.Or(getenv("HTTPS_PROXY"), getenv("https_proxy")), NoProxy: cmp.Or(getenv("NO_PROXY"), getenv("no_proxy")),
	}
	return environment.ProxyFunc()
}

// WrongProxy is the variable of the environment whose proxy is none, or "". EnvironmentProxy would call upstreams without it.
func WrongProxy(getenv func(name string) string) string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if text := getenv(name); text != "" {
			if _, err := url.Parse(text); err != nil {
				if _, err := url.Parse("http://" + text); err != nil {
					return name
				}
			}
		}
	}
	return ""
}

// proxy reads the address of a proxy.
func (r *reader) proxy(m member, where string) *url.URL {
	text := r.text(m.value, where)
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		r.Add(m.line, where, "must be an http or https URL of a host, as http://user@proxy:3128")
		return nil
	}
	if _, ok := u.User.Password(); ok {
		r.Add(m.line, where, "name the variable or the file that has the password: proxy_password_env or proxy_password_file")
		return nil
	}
	return u
}

// withPassword is the address of a proxy with its password, or "".
func (r *reader) withPassword(e entry, where string, proxy *url.URL, password string) string {
	for _, name := range []string{"proxy_password_env", "proxy_password_file"} {
		switch {
		case e.lines[name] == 0:
		case e.lines["proxy"] == 0:
			r.Add(e.lines[name], where+"."+name, "there is no proxy")
		case proxy != nil && proxy.User.Username() == "":
			r.Add(e.lines[name], where+"."+name, "the proxy has no user, as http://user@proxy:3128")
		}
	}
	if e.lines["proxy_password_env"] > 0 && e.lines["proxy_password_file"] > 0 {
		r.Add(e.lines["proxy_password_file"], where, "only one of proxy_password_env and proxy_password_file can be given")
	}
	if proxy == nil {
		return ""
	}
	if password != "" {
		proxy.User = url.UserPassword(proxy.User.Username(), password)
	}
	return proxy.String()
}

// roots reads a file of certificates.
func (r *reader) roots(m member, where string) string {
	path := r.text(m.value, where)
	if path == "" {
		if m.value == nil || yamlfile.IsText(m.value) {
			r.Add(m.line, where, "must be the path of a file")
		}
		return ""
	}
	text, err := r.secrets.file(path)
	if err != nil {
		r.Add(m.line, where, err.Error())
		return ""
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		r.Add(m.line, where, path+": has no certificate in PEM")
	}
	return text
}

// rootsOf are the authorities of the system, and those of the PEM. nil without one.
func rootsOf(pem string) *x509.CertPool {
	if pem == "" {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM([]byte(pem))
	return pool
}

// proxyOf is the proxy of a model at an address: its own, or the one of the environment if that is used; nil is none.
func proxyOf(own, base string, environment func(*url.URL) (*url.URL, error)) *url.URL {
	if own != "" {
		u, err := url.Parse(own)
		if err != nil { // not possible: proxy has checked it
			return nil
		}
		return u
	}
	if environment == nil {
		return nil
	}
	to, err := url.Parse(base)
	if err != nil { // reported by upstream.New
		return nil
	}
	u, err := environment(to)
	if err != nil {
		return nil
	}
	return u
}
