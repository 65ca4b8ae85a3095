package sqldb

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

const readDefinition = `SELECT definition FROM versions WHERE account_id = $1 AND prism_id = $2 AND number = $3`

// ReadDefinition reads the definition of a version; the zero one if the version is not there.
func ReadDefinition(ctx context.Context, run Run, account prism.AccountID, of prism.UUID, number int32) (d prism.Definition, err error) {
	err = run(ctx, Query("read_definition", readDefinition, account.UUID, of, number), ReadRow(&d, Decode[prism.Definition]))
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return d, err
}
