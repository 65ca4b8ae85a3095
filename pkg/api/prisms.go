package api

import (
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

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
	// ETag names the prism as it is in this response. Prisms of lists have none.
	ETag string `json:"-"`
}

// Version is a numbered definition. It never changes.
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
	// When the version was created.
	CreatedAt Time `json:"created_at"`
}
