package prism

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"time"
)

// UUID is a 128-bit identifier in network byte order. Its text form is the 8-4-4-4-12 one, in lower case.
type UUID [16]byte

// The identifiers of Prism's resources, each with a type of its own, so that the compiler tells them apart.
type (
	// AccountID identifies an account. Every other database key begins with it.
	AccountID struct{ UUID }
	// PrismID identifies a prism; people use its slug.
	PrismID struct{ UUID }
	// ResultID identifies a result. It is chosen before the model is called.
	ResultID struct{ UUID }
	// KeyID identifies an API key; it is not secret.
	KeyID struct{ UUID }
	// MemberID identifies a member of an account, or a rule that makes members.
	MemberID struct{ UUID }
	// FileID identifies a file of rows.
	FileID struct{ UUID }
	// RunID identifies a run of a file.
	RunID struct{ UUID }
	// CalibrationID identifies a calibration of a question of a version.
	CalibrationID struct{ UUID }
	// PinsID identifies which calibrations a prism has pinned at a time. The pins of an id never change.
	PinsID struct{ UUID }
	// ViewID identifies a saved view of results.
	ViewID struct{ UUID }
	// CommentID identifies a comment of a result.
	CommentID struct{ UUID }
	// WebhookID identifies a webhook.
	WebhookID struct{ UUID }
	// DeliveryID identifies an event for a webhook, whose receiver gets it as webhook-id.
	DeliveryID struct{ UUID }
)

var errUUID = errors.New("invalid uuid")

// ParseUUID reads the 8-4-4-4-12 form in any letter case and nothing else: no braces, no "urn:uuid:", no bare hex
// (spec: invalid-uuid).
func ParseUUID(s string) (UUID, error) {
	var id UUID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return UUID{}, errUUID
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return UUID{}, errUUID
	}
	return id, nil
}

// NewUUID creates a UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits. So ids of later milliseconds sort
// later, and indexes grow at one end. It fails only if random does.
func NewUUID(now time.Time, random io.Reader) (UUID, error) {
	id := FirstUUID(now)
	if _, err := io.ReadFull(random, id[6:]); err != nil {
		return UUID{}, err
	}
	return id.version7(), nil
}

func (u UUID) version7() UUID {
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return u
}

// RowResultID is the id of the result of a run's row and attempt: a UUIDv7 of the time at which the attempt began, whose other
// 74 bits are a hash in place of random ones (spec: row-result-id).
func RowResultID(begun time.Time, run RunID, row int64, attempt int32) ResultID {
	named := binary.BigEndian.AppendUint64(run.UUID[:], uint64(row)) //nolint:gosec // its bits
	named = binary.BigEndian.AppendUint32(named, uint32(attempt))    //nolint:gosec // its bits
	id, hash := FirstUUID(begun), sha256.Sum256(named)
	copy(id[6:], hash[:])
	return ResultID{id.version7()}
}

// FirstUUID is the least UUIDv7 that NewUUID can make at a time; times before 1970 have the zero UUID.
func FirstUUID(at time.Time) (id UUID) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(0, at.UnixMilli())))
	copy(id[:6], ms[2:])
	if !id.IsZero() {
		id[6], id[8] = 0x70, 0x80
	}
	return id
}

// Time is the time with which a UUIDv7 begins, in UTC.
func (u UUID) Time() time.Time {
	var ms [8]byte
	copy(ms[2:], u[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC() //nolint:gosec // 48 bits
}

// String is the 8-4-4-4-12 form in lower case.
func (u UUID) String() string {
	b, _ := u.AppendText(make([]byte, 0, 36))
	return string(b)
}

// AppendText appends the 8-4-4-4-12 form in lower case.
func (u UUID) AppendText(b []byte) ([]byte, error) {
	b = hex.AppendEncode(b, u[:4])
	for _, part := range [][]byte{u[4:6], u[6:8], u[8:10], u[10:]} {
		b = hex.AppendEncode(append(b, '-'), part)
	}
	return b, nil
}

// MarshalText is AppendText for encoders.
func (u UUID) MarshalText() ([]byte, error) { return u.AppendText(make([]byte, 0, 36)) }

// UnmarshalText is ParseUUID for decoders.
func (u *UUID) UnmarshalText(b []byte) (err error) {
	*u, err = ParseUUID(string(b))
	return err
}

// IsZero reports whether the id is not set.
func (u UUID) IsZero() bool { return u == UUID{} }
