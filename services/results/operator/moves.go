package operator

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Move is what is to be moved.
type Move struct {
	Account  prism.AccountID
	To       string // the name of a database
	TakeBack bool   // the move that is under way, in place of going on with it
	// Learned is how long after the switch the old rows stay; 0: as long as every process may take to learn of it.
	Learned time.Duration
	Tell    func(line string)
}

// accountMove moves an account, and tells how far that is.
func (o *Operator) accountMove(ctx context.Context, in arguments) ([][]string, error) {
	if (in.to == "") != in.takeBack {
		return nil, errors.New("account move takes --to DATABASE, or --take-back")
	}
	id, err := o.Account(ctx, in.subject)
	if err != nil {
		return nil, err
	}
	return nil, o.databases.Move(ctx, Move{Account: id, To: in.to, TakeBack: in.takeBack, Tell: in.tell})
}
