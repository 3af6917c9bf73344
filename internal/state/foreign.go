package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// ForeignJSON reads the JSON objects that stand in any column of a table of another
// program's database, which is opened for reading only and not changed. The table's name
// is ours to give, never a caller's text.
func ForeignJSON(ctx context.Context, path, table string) ([][]byte, error) {
	db, err := sql.Open("sqlite", "file:"+escape(path)+"?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(2000)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	var known int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table).Scan(&known); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if known == 0 {
		return nil, nil
	}
	rows, err := db.QueryContext(ctx, `SELECT * FROM "`+table+`" LIMIT 100`)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for rows.Next() {
		cells := make([]sql.RawBytes, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, cell := range cells {
			var object map[string]json.RawMessage
			if json.Unmarshal(cell, &object) == nil {
				out = append(out, append([]byte(nil), cell...))
			}
		}
	}
	return out, rows.Err()
}
