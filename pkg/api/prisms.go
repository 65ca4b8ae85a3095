package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// ListPrisms reads a page of prisms, newest first (spec: prism-list).
var ListPrisms = Op[ListPrismsRequest, Page[Prism]]{Declaration{
	Name: "listPrisms", Method: http.MethodGet, Path: "/v1/prisms", Tag: "Prisms", Role: prism.Reader, Class: Listing,
}}

// ListPrismsRequest is the request of ListPrisms.
type ListPrismsRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"prisms"`
	// `true` lists the archived prisms, `all` those and the others.
	Archived string `query:"archived" enum:"true,false,all" default:"false"`
	// `adhoc` lists the ad-hoc prisms alone, which no other list has.
	Kind string `query:"kind" enum:"usual,adhoc" default:"usual"`
}

// AdHocPrisms is the kind of ad-hoc prisms.
const AdHocPrisms = "adhoc"

// ReadPrism reads a prism, archived or not (spec: prism-read).
var ReadPrism = Op[PrismRequest, Prism]{Declaration{
	Name: "readPrism", Method: http.MethodGet, Path: "/v1/prisms/{prism}", Tag: "Prisms", Role: prism.Reader, Class: Keyed,
	ETag: true, Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// PrismRequest is the request of an operation that needs a prism alone.
type PrismRequest struct {
	Prism prism.Ref `path:"prism"`
}

// RenamePrism replaces the name of a prism (spec: prism-rename).
var RenamePrism = Op[RenamePrismRequest, Prism]{Declaration{
	Name: "renamePrism", Method: http.MethodPut, Path: "/v1/prisms/{prism}/name", Tag: "Prisms", Role: prism.Editor, Class: Keyed,
	ETag: true, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.ArchivedUnchangeable(), apierr.AdHocPrism()},
}}

// RenamePrismRequest is the request of RenamePrism.
type RenamePrismRequest struct {
	PrismRequest
	NewName
}

// NewName is a name to replace the prism's.
type NewName struct {
	// A name for people. Null or an empty string is none.
	Name *string `json:"name" max:"200"`
}

// ArchivePrism archives a prism, which then takes no calls (spec: archive-and-unarchive).
var ArchivePrism = Op[PrismRequest, Prism]{archiving("archivePrism", "archive")}

// UnarchivePrism lets an archived prism take calls again (spec: archive-and-unarchive).
var UnarchivePrism = Op[PrismRequest, Prism]{archiving("unarchivePrism", "unarchive")}

func archiving(name, verb string) Declaration {
	return Declaration{
		Name: name, Method: http.MethodPost, Path: "/v1/prisms/{prism}/" + verb, Tag: "Prisms", Role: prism.Editor, Class: Keyed,
		Repeatable: true, ETag: true, Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.AdHocPrism()},
	}
}

// ListVersions reads a page of the versions of a prism, newest first (spec: version-list).
var ListVersions = Op[ListVersionsRequest, Page[Version]]{Declaration{
	Name: "listVersions", Method: http.MethodGet, Path: "/v1/prisms/{prism}/versions", Tag: "Prisms", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// ListVersionsRequest is the request of ListVersions.
type ListVersionsRequest struct {
	PrismRequest
	PageRequest
	Cursor string `query:"cursor" list:"versions"`
}

// ReadVersion reads a version of a prism (spec: version-read).
var ReadVersion = Op[VersionRequest, Version]{Declaration{
	Name: "readVersion", Method: http.MethodGet, Path: "/v1/prisms/{prism}/versions/{version}", Tag: "Prisms", Role: prism.Reader,
	Class: Keyed, Errors: []*apierr.Error{apierr.VersionNotFound(), apierr.PrismNotFound()},
}}

// VersionRequest is the request of an operation that needs a version of a prism alone.
type VersionRequest struct {
	PrismRequest
	Version int32 `path:"version"`
}

// Time is a time of the API: ISO 8601 in UTC with milliseconds.
type Time struct{ time.Time }

// MarshalText writes the time as the API does.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes the time as the API does.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

func (t Time) String() string { return prism.FormatTime(t.Time) }

// Prism is a named definition with its latest version.
type Prism struct {
	// Names the prism for good.
	ID   string `json:"id" form:"uuid"`
	Slug string `json:"slug" schema:"Slug"`
	// What people call it.
	Name *string `json:"name"`
	// When the prism was archived, or null.
	ArchivedAt *Time `json:"archived_at"`
	// When the prism was created.
	CreatedAt Time `json:"created_at"`
	// The number of the latest version.
	LatestVersion int  `json:"latest_version" min:"1"`
	Lens          Lens `json:"lens"`
	// The latest version.
	Version Version `json:"version"`
	// How many days old results become before they are deleted. Null: they are kept.
	RetentionDays *int `json:"retention_days" min:"1" max:"3650"`
	// `false` if searches leave the results out, else absent.
	Searchable *bool `json:"searchable,omitzero" null:"true"`
	// ETag names the prism as it is in this response. Prisms of lists have none.
	ETag string `json:"-"`
}

// Version is a numbered definition. It never changes, but that an example is emptied when its result is deleted.
type Version struct {
	// The number, counting from 1.
	Version int `json:"version" min:"1" max:"2147483647"`
	// A text that is sent to the model with every question, or null.
	Instructions *string `json:"instructions"`
	// The name of the configured model that answers the calls of the version. Null: the default one at the time of the call.
	Model *string `json:"model" form:"slug"`
	// A second model for doubtful answers, or null.
	Escalate *Escalate `json:"escalate"`
	// The inputs of a call, 1 to 50. Their keys are unique.
	Fields []Field `json:"fields" min:"1" max:"50"`
	// What is asked about the input, 1 to 64 questions. Their keys are unique.
	Questions []Question `json:"questions" min:"1" max:"64"`
	// Inputs with their right answers, which the model sees before each input. One whose result was deleted has no content. Absent without
	// examples.
	Examples []Example `json:"examples,omitzero" max:"40"`
	// When the version was created.
	CreatedAt Time `json:"created_at"`
}
