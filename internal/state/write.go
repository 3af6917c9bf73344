package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// op is one change, waiting for the writer.
type op struct {
	apply func(context.Context, *sql.Tx) error
	err   error // of apply; set before done
	done  chan error
}

// batchMax is how many changes share a transaction.
const batchMax = 256

// change hands a change to the writer and waits until it is on the disk. When ctx ends
// first the change may still be made.
func (s *Store) change(ctx context.Context, apply func(context.Context, *sql.Tx) error) error {
	if ctx.Err() != nil { // a select would only perhaps see it
		return context.Cause(ctx)
	}
	o := &op{apply: apply, done: make(chan error, 1)}
	select {
	case s.ops <- o:
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write is the one writer: it takes what waits and commits it together.
func (s *Store) write() {
	for {
		var batch []*op
		select {
		case o := <-s.ops:
			batch = append(batch, o)
		case <-s.quit:
			return
		}
	more:
		for len(batch) < batchMax {
			select {
			case o := <-s.ops:
				batch = append(batch, o)
			default:
				break more
			}
		}
		s.commit(batch)
	}
}

func (s *Store) commit(batch []*op) {
	err := s.transaction(batch)
	if err != nil && len(batch) > 1 { // one of them may be at fault: each for itself
		for _, o := range batch {
			s.commit([]*op{o})
		}
		return
	}
	for _, o := range batch {
		if err != nil {
			o.err = s.plain("write", err)
		}
		o.done <- o.err
	}
}

// transaction applies changes. A conflict is a change's own answer and spoils no other.
func (s *Store) transaction(batch []*op) error {
	ctx := context.Background() // a change is made whole or not at all, whoever waits
	tx, err := s.wdb.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	for _, o := range batch {
		o.err = o.apply(ctx, tx)
		if o.err != nil && !errors.Is(o.err, ErrConflict) && !errors.Is(o.err, ErrNotFound) {
			return o.err
		}
	}
	return tx.Commit()
}

func checkNames(names ...string) error {
	for _, n := range names {
		if n == "" || len(n) > MaxKey {
			return fmt.Errorf("a name of %d bytes; 1 to %d are kept", len(n), MaxKey)
		}
	}
	return nil
}

func checkValue(v []byte) error {
	if len(v) > MaxValue {
		return fmt.Errorf("a value of %d bytes; at most %d are kept", len(v), MaxValue)
	}
	return nil
}

// copyOf copies what a caller gave: one whose context ends goes on with its buffer while the
// writer may still read it. It is never nil, which the table keeps for what was deleted.
func copyOf(value []byte) []byte { return append([]byte{}, value...) }

// Put sets a key when its present revision is rev (0 = it must not be there) and returns
// the new revision, once it is on the disk. Otherwise the error wraps ErrConflict.
func (s *Store) Put(ctx context.Context, bucket, key string, value []byte, rev int64) (int64, error) {
	if err := errors.Join(checkNames(bucket, key), checkValue(value)); err != nil {
		return 0, err
	}
	value = copyOf(value)
	var next int64
	err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		have, deleted, err := revision(ctx, tx, bucket, key)
		if err != nil {
			return err
		}
		if rev == 0 && have != 0 && !deleted || rev != 0 && (have != rev || deleted) {
			return fmt.Errorf("%s/%s: %w", bucket, key, ErrConflict)
		}
		next = have + 1
		_, err = tx.ExecContext(ctx, "INSERT INTO item (bucket, key, rev, value) VALUES (?, ?, ?, ?) "+
			"ON CONFLICT (bucket, key) DO UPDATE SET rev = excluded.rev, value = excluded.value", bucket, key, next, value)
		return err
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

// revision is a key's present one; 0 = it was never there.
func revision(ctx context.Context, tx *sql.Tx, bucket, key string) (rev int64, deleted bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT rev, value IS NULL FROM item WHERE bucket = ? AND key = ?", bucket, key).Scan(&rev, &deleted)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return rev, deleted, err
}

// Delete takes a key away when its present revision is rev. Its value is gone from the
// store; the revision is remembered until Forget.
func (s *Store) Delete(ctx context.Context, bucket, key string, rev int64) error {
	if err := checkNames(bucket, key); err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		have, deleted, err := revision(ctx, tx, bucket, key)
		switch {
		case err != nil:
			return err
		case have == 0 || deleted:
			return fmt.Errorf("%s/%s: %w", bucket, key, ErrNotFound)
		case have != rev:
			return fmt.Errorf("%s/%s: %w", bucket, key, ErrConflict)
		}
		_, err = tx.ExecContext(ctx, "UPDATE item SET rev = rev + 1, value = NULL WHERE bucket = ? AND key = ?", bucket, key)
		return err
	})
}

// Forget drops what Delete remembers of a key that will never be used again.
func (s *Store) Forget(ctx context.Context, bucket, key string) error {
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM item WHERE bucket = ? AND key = ? AND value IS NULL", bucket, key)
		return err
	})
}

// Append adds a record to a log and returns its sequence number, once it is on the disk.
func (s *Store) Append(ctx context.Context, log string, atMs int64, data []byte) (int64, error) {
	if err := errors.Join(checkNames(log), checkValue(data)); err != nil {
		return 0, err
	}
	data = copyOf(data)
	var seq int64
	err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "INSERT INTO sequence (log, next) VALUES (?, 2) ON CONFLICT (log) DO UPDATE SET next = next + 1 RETURNING next - 1", log).Scan(&seq)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO record (log, seq, at, data) VALUES (?, ?, ?, ?)", log, seq, atMs, data)
		return err
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}

// Trim drops the records of a log that are older than a time (Unix, in ms) and returns how
// many. Their numbers are not used again.
func (s *Store) Trim(ctx context.Context, log string, beforeMs int64) (int, error) {
	var n int64
	err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM record WHERE log = ? AND at < ?", log, beforeMs)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return int(n), err
}
