package state_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
)

// BenchmarkFloor is what the disk alone takes: an appended 512 bytes and an fsync.
func BenchmarkFloor(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	value := make([]byte, 512)
	for b.Loop() {
		if _, err := f.Write(value); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "exec.db"))
	defer s.Close()
	value := make([]byte, 512)
	var rev int64
	for b.Loop() {
		var err error
		if rev, err = s.Put(context.Background(), "b", "k", value, rev); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "exec.db"))
	defer s.Close()
	data := make([]byte, 512)
	for b.Loop() {
		if _, err := s.Append(context.Background(), "l", 1, data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutMany has 16 writers for each processor: they share transactions.
func BenchmarkPutMany(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "exec.db"))
	defer s.Close()
	value := make([]byte, 512)
	var writers atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		key := strconv.FormatInt(writers.Add(1), 10)
		var rev int64
		for pb.Next() {
			var err error
			if rev, err = s.Put(context.Background(), "b", key, value, rev); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "exec.db"))
	defer s.Close()
	if _, err := s.Put(context.Background(), "b", "k", make([]byte, 512), 0); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(context.Background(), "b", "k"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a store that is there; BenchmarkMake makes one.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "exec.db")
	for b.Loop() {
		if err := openAt(b, path).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMake(b *testing.B) {
	folder := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		if err := openAt(b, filepath.Join(folder, strconv.Itoa(n), "exec.db")).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
