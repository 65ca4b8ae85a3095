// Package databasesfile reads the file of several databases, which is read again when it changes (spec: databases-file).
package databasesfile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/prism-results/prism/pkg/credential/identity"
	"github.com/prism-results/prism/pkg/yamlfile"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
)

// Home is the name of the database that has the directory.
const Home = "home"

// Database is a database of the file.
type Database struct {
	Name string
	// URL is of Postgres, also if the file names a file that has it.
	URL string
	// URLFile, PasswordFile and Auth are what PRISM_DATABASE_URL_FILE, PRISM_DATABASE_PASSWORD_FILE and PRISM_DATABASE_AUTH are of one database.
	URLFile, PasswordFile, Auth string
	// DirectURL is how moves of accounts connect, and other databases in them, also if the file names a file that has it; "": by URL.
	DirectURL string
	// Accepting is set if new accounts may be made here.
	Accepting bool
	// Weight is how much of the use this database may have, relative to the others; above 0.
	Weight int

	line  int
	lines map[string]int // of its members
}

const (
	// maxNodes bounds how large aliases can make a file.
	maxNodes = 100_000
	// maxWeight is the largest weight, so that its products with numbers of accounts stay exact.
	maxWeight = 1_000_000
)

// nameForm is that of a label of DNS: a name is a label of metrics, and part of the names of objects in a cluster.
var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// reader reads a file of databases.
type reader struct {
	yamlfile.Reader
	file func(path string) (string, error) // reads a file that the file names
}

// Parse reads the text of the file at a path, and the files of secrets that it names by file. Home comes first, the others in their order. An
// error is a *yamlfile.Problems with every problem, and repeats no secret.
func Parse(path string, text []byte, file func(path string) (string, error)) ([]Database, error) {
	r := reader{file: file}
	all := r.read(text)
	if len(r.Problems) > 0 {
		slices.SortStableFunc(r.Problems, func(a, b yamlfile.Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, &yamlfile.Problems{Of: "databases", Path: path, List: r.Problems}
	}
	return all, nil
}

func (r *reader) read(text []byte) (all []Database) {
	r.MaxNodes = maxNodes
	bodies, problem := yamlfile.Parse(text, parser.AllowDuplicateMapKey())
	switch {
	case problem != nil:
		r.Problems = append(r.Problems, *problem)
		return nil
	case len(bodies) > 1:
		r.Wrong(bodies[1], "", "must be one YAML document")
		return nil
	case len(bodies) == 0:
		r.Add(0, "", "home is missing: the database that has the directory")
		return nil
	}
	var others []Database
	root := r.Plain(bodies[0], "")
	if root == nil {
		r.Add(0, "", "home is missing: the database that has the directory")
		return nil
	}
	hasHome := false
	for _, m := range r.Members(root, "") {
		switch m.Name {
		case Home:
			hasHome = true
			all = append(all, r.database(Home, m))
		case "databases":
			if n := r.Plain(m.Value, m.Path); n != nil {
				others = r.others(n, m.Path)
			}
		default:
			r.Add(m.Line, "", "has no member "+strconv.Quote(m.Name)+"; there are home and databases")
		}
	}
	if !hasHome {
		r.Add(0, "", "home is missing: the database that has the directory")
	}
	all = append(all, others...)
	r.checkURLs(all)
	return all
}

// others are the databases that are not home.
func (r *reader) others(n ast.Node, where string) (all []Database) {
	for _, m := range r.Members(n, where) {
		switch {
		case m.Name == Home:
			r.Add(m.Line, where, "home is above, and no name of another database")
		case !nameForm.MatchString(m.Name):
			r.Add(m.Line, where, "the name "+strconv.Quote(m.Name)+
				" must be 1 to 63 lower-case letters, digits and hyphens, and begin and end with a letter or digit")
		default:
			all = append(all, r.database(m.Name, m))
		}
	}
	return all
}

// database reads a database.
func (r *reader) database(name string, entry yamlfile.Member) Database {
	d := Database{Name: name, Accepting: true, Weight: 1, line: entry.Line, lines: map[string]int{}}
	n := r.Plain(entry.Value, entry.Path)
	if n == nil {
		r.Add(entry.Line, entry.Path, "url or url_file is missing")
		return d
	}
	before := len(r.Problems)
	members := r.Members(n, entry.Path)
	if len(members) == 0 && len(r.Problems) > before {
		return d
	}
	direct := ""
	for _, m := range members {
		value := r.Plain(m.Value, m.Path)
		d.lines[m.Name] = m.Line
		switch m.Name {
		case "url":
			d.URL = r.text(value, m)
		case "url_file":
			d.URLFile = r.text(value, m)
		case "password_file":
			d.PasswordFile = r.text(value, m)
		case "auth":
			if d.Auth = r.text(value, m); d.Auth != "" && !slices.Contains(kinds(), d.Auth) {
				r.Add(m.Line, m.Path, "must be one of "+strings.Join(kinds(), ", "))
				d.Auth = ""
			}
		case "direct_url":
			d.DirectURL = r.text(value, m)
		case "direct_url_file":
			if path := r.text(value, m); path != "" {
				direct = r.secret(path, m.Line, m.Path)
			}
		case "accepting":
			d.Accepting = r.isTrue(value, m)
		case "weight":
			d.Weight = r.whole(value, m)
		case "password":
			r.Add(m.Line, m.Path, "name the file that has the password: password_file")
		default:
			r.Add(m.Line, entry.Path, "has no member "+strconv.Quote(m.Name)+
				"; there are url, url_file, password_file, auth, direct_url, direct_url_file, accepting and weight")
		}
	}
	r.checkSecrets(&d, entry.Path)
	r.checkDirect(&d, direct, entry.Path)
	return d
}

// kinds are where passwords come from.
func kinds() []string { return append([]string{"file"}, identity.Kinds()...) }

// at is the line of a member, or of the database if it has no such member.
func (d Database) at(member string) int { return cmp.Or(d.lines[member], d.line) }

// checkSecrets checks for what is missing and what excludes each other, and reads the files.
func (r *reader) checkSecrets(d *Database, where string) {
	tokens := d.Auth != "" && d.Auth != "file"
	switch {
	case d.lines["url"] == 0 && d.lines["url_file"] == 0:
		r.Add(d.line, where, "url or url_file is missing")
	case d.URL != "" && d.URLFile != "":
		r.Add(d.at("url_file"), where, "only one of url and url_file can be given")
	case tokens && d.URLFile != "":
		r.Add(d.at("url_file"), where+".url_file", "cannot be given with auth: "+d.Auth)
	case tokens && d.PasswordFile != "":
		r.Add(d.at("password_file"), where+".password_file", "cannot be given with auth: "+d.Auth)
	case d.Auth == "file" && d.URLFile == "" && d.PasswordFile == "":
		r.Add(d.at("auth"), where+".auth", "file needs password_file or url_file")
	}
	member := "url"
	if d.URL == "" && d.URLFile != "" {
		member, d.URL = "url_file", r.secret(d.URLFile, d.at("url_file"), where+".url_file")
	}
	if d.PasswordFile != "" {
		r.secret(d.PasswordFile, d.at("password_file"), where+".password_file")
	}
	if d.URL == "" {
		return
	}
	err := postgres.CheckURL(d.URL)
	if err == nil && tokens {
		err = postgres.CheckTLS(d.URL)
	}
	if err != nil {
		r.Add(d.at(member), where+"."+member, err.Error()+"; for example postgres://prism@db.example.com/prism?sslmode=verify-full")
		d.URL = ""
	}
}

// checkDirect checks the URL for moves, of which a file may have one.
func (r *reader) checkDirect(d *Database, ofFile, where string) {
	if d.lines["direct_url"] > 0 && d.lines["direct_url_file"] > 0 {
		r.Add(d.at("direct_url_file"), where, "only one of direct_url and direct_url_file can be given")
		return
	}
	if d.DirectURL = cmp.Or(d.DirectURL, ofFile); d.DirectURL == "" {
		return
	}
	if err := mover.CheckURL(d.DirectURL); err != nil {
		r.Add(max(d.lines["direct_url"], d.lines["direct_url_file"]), where, err.Error())
		d.DirectURL = ""
	}
}

// secret is the content of a file, without the white space around it.
func (r *reader) secret(path string, line int, where string) string {
	content, err := r.file(path)
	if err != nil {
		r.Add(line, where, err.Error())
		return ""
	}
	if content = strings.TrimSpace(content); content == "" {
		r.Add(line, where, path+": is empty")
	}
	return content
}

// checkURLs checks that no two names are of one database: the directory would have its accounts twice.
func (r *reader) checkURLs(all []Database) {
	first := map[string]Database{}
	for _, d := range all {
		places, _ := postgres.Places(d.URL) // an error is reported by checkSecrets
		for _, place := range places {
			if other, twice := first[place]; twice {
				r.Add(max(d.lines["url"], d.lines["url_file"]), d.Name,
					fmt.Sprintf("is the database of %s, line %d: %s", other.Name, max(other.lines["url"], other.lines["url_file"]), place))
				break
			}
		}
		for _, place := range places {
			first[place] = d
		}
	}
}

func (r *reader) text(n ast.Node, m yamlfile.Member) string {
	before := len(r.Problems)
	text := ""
	if n != nil {
		text = r.Text(n, m.Path)
	}
	if text == "" && len(r.Problems) == before {
		r.Add(m.Line, m.Path, "must not be empty")
	}
	return text
}

func (r *reader) isTrue(n ast.Node, m yamlfile.Member) bool {
	if b, ok := n.(*ast.BoolNode); ok {
		return b.Value
	}
	r.Add(m.Line, m.Path, "must be true or false")
	return false
}

func (r *reader) whole(n ast.Node, m yamlfile.Member) int {
	if v, ok := yamlfile.Whole(n, maxWeight); ok {
		return v
	}
	r.Add(m.Line, m.Path, fmt.Sprintf("must be a whole number from 1 to %d; accepting: false keeps new accounts away", maxWeight))
	return 1
}
