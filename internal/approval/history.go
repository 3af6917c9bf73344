package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"openclaw/internal/redact"
	"openclaw/internal/state"
)

// Filter picks records of the history; "" accepts all.
type Filter struct {
	Kind   Kind
	Agent  string
	Status Status
}

func (f Filter) accepts(rec *Record) bool {
	return (f.Kind == "" || rec.Request.Kind == f.Kind) && (f.Agent == "" || rec.Request.Agent == f.Agent) && (f.Status == "" || rec.Status == f.Status)
}

// pastKey orders the history by the time of the decision.
func pastKey(rec *Record) string { return fmt.Sprintf("%013d-%s", rec.ResolvedMs, rec.ID) }

// remember writes a final record to the history, with secrets masked; a later
// form of the same record takes the place of the earlier, in whichever order they come.
func (r *Registry) remember(ctx context.Context, rec Record) {
	rec.Request.Command = redact.Text(rec.Request.Command)
	rec.Request.Segments, rec.Request.Argv = nil, nil
	rec.Request.Explanation = redact.Text(rec.Request.Explanation)
	data, err := json.Marshal(rec)
	if err != nil {
		return
	}
	key := pastKey(&rec)
	for range 3 {
		var rev int64
		it, err := r.opt.Store.Get(ctx, bucketHistory, key)
		if err == nil {
			var kept Record
			if json.Unmarshal(it.Value, &kept) == nil && kept.Run != nil && !rec.Run.Over() {
				return // the decision's form comes behind that of the run
			}
			rev = it.Rev
		}
		if _, err = r.opt.Store.Put(ctx, bucketHistory, key, data, rev); !errors.Is(err, state.ErrConflict) {
			return
		}
	}
}

// History lists final requests, the newest first: up to limit of them (1..100) behind the
// cursor of the page before. next is "" on the last page.
func (r *Registry) History(ctx context.Context, f Filter, cursor string, limit int) (items []Record, next string, err error) {
	if limit <= 0 || limit > 100 {
		limit = 100
	}
	if strings.Trim(cursor, "0123456789abcdefghijklmnopqrstuvwxyz:.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || len(cursor) > state.MaxKey {
		return nil, "", fmt.Errorf("cursor %.80q is none of ours; begin without one", cursor)
	}
	oldest := fmt.Sprintf("%013d", r.opt.Now().Add(-time.Duration(r.opt.HistoryDays)*24*time.Hour).UnixMilli())
	for {
		page, err := r.opt.Store.ScanBack(ctx, bucketHistory, cursor, 200)
		if err != nil {
			return nil, "", fmt.Errorf("read the history: %w", err)
		}
		for _, it := range page {
			if it.Key < oldest {
				return items, "", nil
			}
			if len(items) == limit {
				return items, cursor, nil
			}
			var rec Record
			if err := json.Unmarshal(it.Value, &rec); err != nil {
				return nil, "", fmt.Errorf("read the history: %s: %w", it.Key, err)
			}
			cursor = it.Key
			if f.accepts(&rec) {
				items = append(items, rec)
			}
		}
		if len(page) < 200 {
			return items, "", nil
		}
	}
}

// Trim drops what is older than the history is kept and returns how many.
func (r *Registry) Trim(ctx context.Context) (int, error) {
	oldest := fmt.Sprintf("%013d", r.opt.Now().Add(-time.Duration(r.opt.HistoryDays)*24*time.Hour).UnixMilli())
	n := 0
	for {
		page, err := r.opt.Store.Scan(ctx, bucketHistory, "", 200)
		if err != nil {
			return n, err
		}
		for _, it := range page {
			if it.Key >= oldest {
				return n, nil
			}
			if err := r.opt.Store.Delete(ctx, bucketHistory, it.Key, it.Rev); err != nil {
				return n, err
			}
			if err := r.opt.Store.Forget(ctx, bucketHistory, it.Key); err != nil {
				return n, err
			}
			n++
		}
		if len(page) < 200 {
			return n, nil
		}
	}
}
