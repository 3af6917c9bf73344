package gateway

import (
	"context"
	"os"
)

// storeMethods look after the durable store, which nobody else can open while we run.
func storeMethods() map[string]method {
	return map[string]method{
		"state.check":  with((*server).methodStoreCheck),
		"state.backup": with((*server).methodStoreBackup),
	}
}

// storeHealth is the answer of state.check: what is wrong is no error of the call.
type storeHealth struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

func (s *server) methodStoreCheck(ctx context.Context, b *backend, _ none) (any, error) {
	health := storeHealth{Path: b.durable.path}
	st, err := b.durable.open(ctx)
	if err == nil {
		err = st.Check(ctx)
	}
	if info, statErr := os.Stat(health.Path); statErr == nil {
		health.Bytes = info.Size()
	}
	if health.OK = err == nil; err != nil {
		health.Problem = err.Error()
	}
	return health, nil
}

// storeBackup is the answer of state.backup. The caller does not choose where: a client
// must not write files as it likes.
type storeBackup struct {
	Path string `json:"path"`
}

func (s *server) methodStoreBackup(ctx context.Context, b *backend, _ none) (any, error) {
	st, err := b.durable.open(ctx)
	if err != nil {
		return nil, err
	}
	path, err := st.BackupBeside(ctx)
	if err != nil {
		return nil, err
	}
	return storeBackup{Path: path}, nil
}
