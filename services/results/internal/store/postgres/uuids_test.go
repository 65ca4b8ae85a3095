package postgres

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/prism-results/prism/pkg/prism"
)

func TestUUIDsAreEncodedAsPgxEncodesThem(t *testing.T) {
	t.Parallel()
	id := prism.UUID{1, 2, 3, 15: 255}
	theirs, ours := pgtype.NewMap(), pgtype.NewMap()
	ours.RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}})
	for name, value := range map[string]any{
		"a UUID": id, "a pointer": &id, "none": (*prism.UUID)(nil), "several": []prism.UUID{id, {}},
	} {
		oid := uint32(pgtype.UUIDOID)
		if name == "several" {
			oid = pgtype.UUIDArrayOID
		}
		for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
			want, err := theirs.Encode(oid, format, value, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := ours.Encode(oid, format, value, nil); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s in format %d is %x, %v, want %x", name, format, got, err, want)
			}
		}
	}
}
