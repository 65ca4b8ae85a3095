package databasesfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// files are those that tests name.
func files(path string) (string, error) {
	switch path {
	case "/secrets/password":
		return "a secret\n", nil
	case "/secrets/url":
		return " postgres://u:secret@db.example.com/east\n", nil
	case "/secrets/empty":
		return "\n", nil
	}
	return "", errors.New(path + ": no such file or directory")
}

// spec: databases-file
func TestTheFileHasHomeAndFurtherDatabases(t *testing.T) {
	t.Parallel()
	all, err := Parse("f", []byte(`# all that may be set
home:
  url: postgres://prism@db.example.com/home?sslmode=verify-full
  auth: aws
  accepting: false
databases:
  west-2:
    url: postgres://prism@db.example.com:5433/home
    password_file: /secrets/password
    direct_url: postgres://owner@db.example.com/home
    weight: 3
  east:
    auth: file
    url_file: /secrets/url
    direct_url_file: /secrets/url
`), files)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].line, all[i].lines = 0, nil
	}
	want := []Database{
		{Name: "home", URL: "postgres://prism@db.example.com/home?sslmode=verify-full", Auth: "aws", Weight: 1},
		{Name: "west-2", URL: "postgres://prism@db.example.com:5433/home", PasswordFile: "/secrets/password", DirectURL: "postgres://owner@db.example.com/home", Accepting: true, Weight: 3},
		{Name: "east", URL: "postgres://u:secret@db.example.com/east", URLFile: "/secrets/url", Auth: "file", DirectURL: "postgres://u:secret@db.example.com/east", Accepting: true, Weight: 1},
	}
	if !slices.EqualFunc(all, want, func(a, b Database) bool {
		return a.Name == b.Name && a.URL == b.URL && a.URLFile == b.URLFile && a.PasswordFile == b.PasswordFile && a.Auth == b.Auth && a.DirectURL == b.DirectURL &&
			a.Accepting == b.Accepting && a.Weight == b.Weight
	}) {
		t.Errorf("got %+v", all)
	}
}

// spec: databases-file
func TestWhatIsWrongInTheFileIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	const home = "home:\n  url: postgres://h.example.com/d\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"f: home is missing: the database that has the directory"}},
		{"null", "~\n", []string{"f: home is missing: the database that has the directory"}},
		{"no home", "databases:\n  b:\n    url: postgres://h/d\n", []string{"f: home is missing"}},
		{"no YAML", "home: [\n", []string{"f:1: "}},
		{"two documents", home + "---\n" + home, []string{"f:4: must be one YAML document"}},
		{"an unknown member", home + "more: 1\n", []string{`f:3: has no member "more"; there are home and databases`}},
		{"an unknown member of a database", home + "  wieght: 2\n", []string{`f:3: home: has no member "wieght"; there are url, url_file,`}},
		{"a name twice", home + "databases:\n  b:\n    url: postgres://h/d\n  b:\n    url: postgres://h/e\n", []string{"f:6: databases.b: is given twice"}},
		{"a member twice", home + "  url: postgres://h/d\n", []string{"f:3: home.url: is given twice"}},
		{"home twice", home + "databases:\n  home:\n    url: postgres://h/d\n", []string{"f:4: databases: home is above, and no name of another database"}},
		{"a name in capitals", home + "databases:\n  B:\n    url: postgres://h/d\n", []string{`f:4: databases: the name "B" must be 1 to 63 lower-case letters`}},
		{"a long name", home + "databases:\n  " + strings.Repeat("b", 64) + ":\n    url: postgres://h/d\n", []string{`must be 1 to 63 lower-case letters`}},
		{"a name with a hyphen at its end", home + "databases:\n  b-:\n    url: postgres://h/d\n", []string{`f:4: databases: the name "b-" must`}},
		{
			"one database twice", home + "databases:\n  b:\n    weight: 2\n    url: postgres://u:secret@H.example.com:5432/d?sslmode=disable\n",
			[]string{"f:6: b: is the database of home, line 2: h.example.com:5432/d"},
		},
		{
			"one database by another of its servers", "home:\n  url: postgres://a,b/d\ndatabases:\n  c:\n    url: postgres://b,c/d\n",
			[]string{"f:5: c: is the database of home, line 2: b:5432/d"},
		},
		{
			"one database by a file", home + "databases:\n  b:\n    url: postgres://db.example.com/east\n  c:\n    url_file: /secrets/url\n",
			[]string{"f:7: c: is the database of b, line 5: db.example.com:5432/east"},
		},
		{"weight 0", home + "  weight: 0\n", []string{"f:3: home.weight: must be a whole number from 1 to 1000000; accepting: false keeps"}},
		{"a negative weight", home + "  weight: -1\n", []string{"f:3: home.weight: must be a whole number"}},
		{"half a weight", home + "  weight: 0.5\n", []string{"f:3: home.weight: must be a whole number"}},
		{"accepting nothing", home + "  accepting: no\n", []string{"f:3: home.accepting: must be true or false"}},
		{"a list", "home:\n- url\n", []string{"f:2: home: must have members"}},
		{"no members", "home:\n", []string{"f:1: home: url or url_file is missing"}},
		{"no URL", "home:\n  weight: 1\n", []string{"f:1: home: url or url_file is missing"}},
		{"an empty URL", "home:\n  url: \"\"\n", []string{"f:2: home.url: must not be empty"}},
		{"a URL of something else", "home:\n  url: postgres://u:secret@h:port/d\n", []string{"f:2: home.url: is no URL of Postgres; for example"}},
		{"both URLs", home + "  url_file: /secrets/url\n", []string{"f:3: home: only one of url and url_file can be given"}},
		{"both direct URLs", home + "  direct_url: postgres://h/d\n  direct_url_file: /secrets/url\n", []string{"f:4: home: only one of direct_url and direct_url_file can be given"}},
		{"a direct URL of something else", home + "  direct_url: https://u:secret@h/d\n", []string{"f:3: home: the direct URL is no URL of Postgres"}},
		{"a direct URL that is not there", home + "  direct_url_file: /nowhere\n", []string{"f:3: home.direct_url_file: /nowhere: no such file or directory"}},
		{"a password", home + "  password: secret\n", []string{"f:3: home.password: name the file that has the password: password_file"}},
		{"a file that is not there", home + "  password_file: /nowhere\n", []string{"f:3: home.password_file: /nowhere: no such file or directory"}},
		{"an empty file", home + "  password_file: /secrets/empty\n", []string{"f:3: home.password_file: /secrets/empty: is empty"}},
		{"an unknown way to get passwords", home + "  auth: kerberos\n", []string{"f:3: home.auth: must be one of file, "}},
		{"a file of nothing", home + "  auth: file\n", []string{"f:3: home.auth: file needs password_file or url_file"}},
		{
			"tokens and a file", home + "  auth: google\n  password_file: /secrets/password\n",
			[]string{"f:4: home.password_file: cannot be given with auth: google"},
		},
		{
			"tokens in plain text", "home:\n  url: postgres://h.example.com/d?sslmode=disable\n  auth: google\n",
			[]string{"f:2: home.url: a token needs TLS to another machine"},
		},
		{
			"two problems", home + "  weight: 0\ndatabases:\n  b:\n    accepting: maybe\n",
			[]string{"f:3: home.weight", "f:5: databases.b: url or url_file is missing", "f:6: databases.b.accepting"},
		},
	} {
		all, err := Parse("f", []byte(c.text), files)
		if err == nil {
			t.Errorf("%s: got %+v", c.name, all)
			continue
		}
		lines := strings.Split(err.Error(), "\n")[1:]
		ok := len(lines) == len(c.want)
		for i := range min(len(lines), len(c.want)) {
			ok = ok && strings.Contains(lines[i], c.want[i])
		}
		if !ok || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: got %s", c.name, err)
		}
	}
}
