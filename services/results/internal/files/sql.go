package files

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database, and the content of files for package blobs.
type SQL struct{ sqldb.Database }

const (
	fileColumns = `id, name, format, bytes, sha256, status, error, row_count, chunks, layout, copy_id, copy_bytes, created_at,
	expires_at, hashed, hash_state, readings`

	insertFile = `INSERT INTO files (account_id, id, name, format, bytes, sha256, status, error, row_count, chunks, copy_bytes,
	created_at, expires_at, hashed, readings)
VALUES ($1, $2, $3, $4, $5, $6, 'uploading', '', 0, 0, 0, $7, $8, 0, 0)`

	countUploads = `SELECT count(*) FROM files WHERE account_id = $1 AND status = 'uploading'`

	selectFile = `-- name: File :one
SELECT ` + fileColumns + ` FROM files WHERE account_id = $1 AND id = $2 AND status <> 'deleted'`
	listFiles = `-- name: ListFiles :many
SELECT ` + fileColumns + ` FROM files WHERE account_id = $1 AND id < $2 AND status <> 'deleted'
ORDER BY id DESC LIMIT $3`

	insertPart = `INSERT INTO file_parts (account_id, file_id, number, bytes, sha256)
SELECT account_id, id, $3, $4, $5 FROM files WHERE account_id = $1 AND id = $2 AND status = 'uploading'
ON CONFLICT (account_id, file_id, number) DO NOTHING
RETURNING number`
	selectPart = `-- name: FilePart :one
SELECT p.sha256, f.status FROM files f
LEFT JOIN file_parts p ON p.account_id = f.account_id AND p.file_id = f.id AND p.number = $3
WHERE f.account_id = $1 AND f.id = $2 AND f.status <> 'deleted'`
	selectParts = `-- name: FileParts :many
SELECT p.number, p.bytes, p.sha256 FROM file_parts p
JOIN files f ON f.account_id = p.account_id AND f.id = p.file_id AND f.status <> 'deleted'
WHERE p.account_id = $1 AND p.file_id = $2 AND p.number BETWEEN $3 AND $4
ORDER BY p.number`

	setHashed = `UPDATE files SET hashed = $4, hash_state = $5 WHERE account_id = $1 AND id = $2 AND hashed = $3`

	setReading = `UPDATE files SET completed_at = $3, leased_until = $3, expires_at = $4, status = 'reading', hash_state = NULL
WHERE account_id = $1 AND id = $2 AND status = 'uploading'
RETURNING id`

	// usedBy finds the runs that use a file f.
	usedBy = `EXISTS (SELECT 1 FROM runs r WHERE r.account_id = f.account_id AND r.file_id = f.id AND r.status NOT IN ('finished', 'cancelled'))`

	fileExpired = `SELECT f.account_id, f.id FROM files f
WHERE f.status <> 'deleted' AND f.expires_at <= $1 AND NOT ` + usedBy + ` AND f.account_id` + sqldb.StaysHere + `
ORDER BY f.expires_at LIMIT $2`
	fileDeleted = `SELECT account_id, id, copy_id, copy_bytes FROM files
WHERE status = 'deleted' AND expires_at <= $1 AND account_id` + sqldb.StaysHere + ` ORDER BY expires_at LIMIT $2`
	deletedParts = `-- name: DeletedParts :many
SELECT number, bytes, sha256 FROM file_parts WHERE account_id = $1 AND file_id = $2 ORDER BY number`
	putOffRemoval = `UPDATE files SET expires_at = $3 WHERE account_id = $1 AND id = $2 AND status = 'deleted'`

	// The expiry of a deleted file is the time of its deletion.
	deleteFile = `UPDATE files SET status = 'deleted', expires_at = $3, lease_token = NULL, leased_until = NULL
WHERE account_id = $1 AND id = $2 AND status <> 'deleted'
RETURNING name`
	fileUsed = `SELECT ` + usedBy + ` FROM files f WHERE f.account_id = $1 AND f.id = $2`

	forgetParts = `DELETE FROM file_parts WHERE account_id = $1 AND file_id = $2`
	forgetFile  = `DELETE FROM files WHERE account_id = $1 AND id = $2 AND status = 'deleted'`
)

// CreateFile implements Store. The lock of the account makes concurrent calls count the files one after the other.
func (s SQL) CreateFile(ctx context.Context, account prism.AccountID, f File) error {
	return s.Transaction(ctx, "create_file", func(run sqldb.Run) error {
		var uploads int64
		owner := []any{account.UUID}
		if err := run(ctx, sqldb.Statement{Text: keys.LockAccount, Args: owner}, sqldb.SomeRow); err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: countUploads, Args: owner}, sqldb.ReadRow(&uploads, (*sqldb.Row).Int)); err != nil {
			return err
		}
		if uploads >= store.MaxUploads {
			return store.ErrTooManyUploads
		}
		var stored store.Storage
		if err := run(ctx, sqldb.Statement{Text: keys.SelectStorage, Args: owner}, sqldb.ReadRow(&stored, keys.ReadStorage)); err != nil {
			return err
		}
		if f.Bytes > stored.Limit-stored.Bytes {
			return &store.NoRoomError{Limit: stored.Limit}
		}
		args := append(slices.Clip(owner), f.ID.UUID, f.Name, string(f.Format), f.Bytes, digestArgument(f.SHA256), f.CreatedAt, f.ExpiresAt)
		return run(ctx, sqldb.Statement{Text: insertFile, Args: args}, sqldb.NoRow)
	})
}

// digestArgument is null for nil.
func digestArgument(digest *[32]byte) []byte {
	if digest == nil {
		return nil
	}
	return digest[:]
}

// File implements Store.
func (s SQL) File(ctx context.Context, account prism.AccountID, id prism.FileID) (f File, err error) {
	err = s.Run(ctx, sqldb.Query("file", selectFile, account.UUID, id.UUID), sqldb.ReadRow(&f, readFile))
	return f, err
}

// ListFiles implements Store.
func (s SQL) ListFiles(
	ctx context.Context, account prism.AccountID, page store.Page,
) (files []File, more bool, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit) + 1}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_files", listFiles, args...), page.Limit, readFile, "layout", "hash_state")
}

func readFile(r *sqldb.Row) File {
	return File{
		ID: prism.FileID{UUID: r.UUID()}, Name: r.Text(), Format: prism.FileFormat(r.Text()), Bytes: r.Int(), SHA256: readDigest(r),
		Status: prism.FileStatus(r.Text()), Error: r.Text(), Rows: r.Int(), Chunks: r.Int32(), Layout: r.Bytes(),
		Copy: store.Copy{ID: r.UUID(), Bytes: r.Int()}, CreatedAt: r.Time(), ExpiresAt: r.Time(),
		Hashed: Hashed{Parts: r.Int32(), State: r.Bytes()}, Readings: r.Int32(),
	}
}

// readDigest reads a SHA-256, or nil for null.
func readDigest(r *sqldb.Row) *[32]byte {
	b := r.Bytes()
	if b == nil {
		return nil
	}
	if len(b) != 32 {
		r.Fail(sqldb.ErrUnreadable)
		return nil
	}
	return (*[32]byte)(b)
}

// PutPart implements Store. The insert may wait for the transaction of another call that stores the same part. The look-up
// is a second statement of the transaction, so that it sees that part.
func (s SQL) PutPart(
	ctx context.Context, account prism.AccountID, id prism.FileID, p store.Part,
) (digest [32]byte, err error) {
	inserted := 0
	err = s.Transaction(ctx, "put_part", func(run sqldb.Run) error {
		args := []any{account.UUID, id.UUID, p.Number}
		if err := run(ctx, sqldb.Statement{Text: insertPart, Args: append(args, p.Bytes, p.SHA256[:])}, sqldb.CountRows(&inserted)); err != nil {
			return err
		}
		var stored *[32]byte
		if err := run(ctx, sqldb.Statement{Text: selectPart, Args: args}, sqldb.ReadRow(&stored, readDigest)); err != nil {
			return err
		}
		if stored == nil {
			return store.ErrFileState
		}
		digest = *stored
		return nil
	})
	if err == nil && inserted == 0 {
		err = s.ConfirmAll(ctx, account) // the part that an earlier call stored
	}
	return digest, err
}

// Parts implements Store.
func (s SQL) Parts(
	ctx context.Context, account prism.AccountID, id prism.FileID, from, to int32,
) (parts []store.Part, err error) {
	args := []any{account.UUID, id.UUID, from, to}
	err = s.Run(ctx, sqldb.Query("file_parts", selectParts, args...), sqldb.ReadRows(&parts, readPart))
	return parts, err
}

func readPart(r *sqldb.Row) store.Part {
	p := store.Part{Number: r.Int32(), Bytes: r.Int32()}
	if digest := readDigest(r); digest != nil {
		p.SHA256 = *digest
	}
	return p
}

// SetHashed implements Store.
func (s SQL) SetHashed(
	ctx context.Context, account prism.AccountID, id prism.FileID, from int32, h Hashed,
) error {
	args := []any{account.UUID, id.UUID, from, h.Parts, h.State}
	return s.Run(ctx, sqldb.Change("set_hashed", setHashed, args...), sqldb.NoRow)
}

// SetReading implements Store.
func (s SQL) SetReading(ctx context.Context, account prism.AccountID, id prism.FileID, at time.Time) error {
	set := 0
	err := s.Transaction(ctx, "set_reading", func(run sqldb.Run) error {
		args := []any{account.UUID, id.UUID}
		err := run(ctx, sqldb.Statement{Text: setReading, Args: append(args, at, at.Add(KeepTime))}, sqldb.CountRows(&set))
		if err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: selectFile, Args: args}, sqldb.SomeRow)
	})
	if err == nil && set == 0 {
		err = s.ConfirmAll(ctx, account) // the completion by an earlier call
	}
	return err
}

// DeleteFile implements Store. The repeat of a deletion is confirmed, as in DeleteResult.
func (s SQL) DeleteFile(ctx context.Context, account prism.AccountID, id prism.FileID, by store.By) error {
	err := s.Transaction(ctx, "delete_file", func(run sqldb.Run) error {
		var name string
		args := []any{account.UUID, id.UUID, by.At}
		if err := run(ctx, sqldb.Statement{Text: deleteFile, Args: args}, sqldb.ReadRow(&name, (*sqldb.Row).Text)); err != nil {
			return err
		}
		// The row is locked now: a run that is created at the same time is either visible here, or will find the file deleted.
		var used bool
		if err := run(ctx, sqldb.Statement{Text: fileUsed, Args: args[:2]}, sqldb.ReadRow(&used, (*sqldb.Row).Bool)); err != nil {
			return err
		}
		if used {
			return store.ErrFileUsed
		}
		if by.Entry.IsZero() {
			return nil
		}
		object := store.Object{Kind: store.FileObject, ID: id.UUID, Name: name}
		return sqldb.Record(ctx, run, account, by, store.FileDelete, object, sqldb.NoDetail{})
	})
	if errors.Is(err, store.ErrNotFound) {
		err = cmp.Or(s.ConfirmAll(ctx, account), err)
	}
	return err
}

// ExpiredFiles implements Store.
func (s SQL) ExpiredFiles(ctx context.Context, now time.Time, limit int) (owners []store.FileOwner, err error) {
	err = s.Run(ctx, sqldb.Query("expired_files", fileExpired, now, int64(limit)), sqldb.ReadRows(&owners, readFileOwner))
	return owners, err
}

// DeletedFiles implements Store.
func (s SQL) DeletedFiles(ctx context.Context, before time.Time, limit int) (files []DeletedFile, err error) {
	args := []any{before, int64(limit)}
	err = s.Run(ctx, sqldb.Query("deleted_files", fileDeleted, args...), sqldb.ReadRows(&files, func(r *sqldb.Row) DeletedFile {
		return DeletedFile{FileOwner: readFileOwner(r), Copy: store.Copy{ID: r.UUID(), Bytes: r.Int()}}
	}))
	return files, err
}

func readFileOwner(r *sqldb.Row) store.FileOwner {
	return store.FileOwner{Account: prism.AccountID{UUID: r.UUID()}, ID: prism.FileID{UUID: r.UUID()}}
}

// DeletedParts implements Store.
func (s SQL) DeletedParts(ctx context.Context, f store.FileOwner) (parts []store.Part, err error) {
	args := []any{f.Account.UUID, f.ID.UUID}
	err = s.Run(ctx, sqldb.Query("deleted_parts", deletedParts, args...), sqldb.ReadRows(&parts, readPart))
	return parts, err
}

// PutOffRemoval implements Store.
func (s SQL) PutOffRemoval(ctx context.Context, f store.FileOwner, at time.Time) error {
	args := []any{f.Account.UUID, f.ID.UUID, at}
	return s.Run(ctx, sqldb.Change("put_off_removal", putOffRemoval, args...), sqldb.NoRow)
}

// ForgetFile implements Store.
func (s SQL) ForgetFile(ctx context.Context, f store.FileOwner) error {
	return s.Transaction(ctx, "forget_file", func(run sqldb.Run) error {
		for _, text := range []string{forgetParts, forgetChunks, forgetFile} {
			if err := run(ctx, sqldb.Statement{Text: text, Args: []any{f.Account.UUID, f.ID.UUID}}, sqldb.NoRow); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	// A name is unique for its content, so that storing it again changes nothing.
	insertContent = `INSERT INTO file_contents (account_id, file_id, name, content) VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id, file_id, name) DO NOTHING`
	selectContent = `-- name: FileContent :one
SELECT substr(content, $4, $5) FROM file_contents WHERE account_id = $1 AND file_id = $2 AND name = $3`
	deleteContents = `DELETE FROM file_contents WHERE account_id = $1 AND file_id = $2 AND name IN (
	SELECT name FROM file_contents WHERE account_id = $1 AND file_id = $2 AND name >= $3 AND name < $4 LIMIT 64
) RETURNING name`
)

// PutContent implements blobs.Contents.
func (s SQL) PutContent(ctx context.Context, f store.FileOwner, name string, content []byte) error {
	args := []any{f.Account.UUID, f.ID.UUID, name, content}
	return s.Run(ctx, sqldb.Change("put_content", insertContent, args...), sqldb.NoRow)
}

// Content implements blobs.Contents.
func (s SQL) Content(
	ctx context.Context, f store.FileOwner, name string, offset, bytes int64,
) (content []byte, err error) {
	args := []any{f.Account.UUID, f.ID.UUID, name, int32(offset) + 1, int32(bytes)} //nolint:gosec // contents are smaller
	err = s.Run(ctx, sqldb.Query("content", selectContent, args...), sqldb.ReadRow(&content, (*sqldb.Row).Bytes))
	return content, err
}

// DeleteContents implements blobs.Contents. Each statement deletes only a few contents, as they may be large.
func (s SQL) DeleteContents(ctx context.Context, f store.FileOwner, prefix string) error {
	args := []any{f.Account.UUID, f.ID.UUID, prefix, prefix + "\x7f"}
	for {
		deleted := 0
		err := s.Run(ctx, sqldb.Change("delete_contents", deleteContents, args...), sqldb.CountRows(&deleted))
		if err != nil || deleted == 0 {
			return err
		}
	}
}
