package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// The cost of a blob that is written over and over under a few names, and read.
func BenchmarkBlob(b *testing.B) {
	modes := map[string]func(b *testing.B) *storage.Storage{
		"memory":  func(*testing.B) *storage.Storage { return storage.New(clock.System(), nil) },
		"durable": func(b *testing.B) *storage.Storage { return onDisk(b, b.TempDir(), false) },
	}
	for _, mode := range []string{"memory", "durable"} {
		for _, size := range []int{4 << 10, 1 << 20} {
			ctx, content := context.Background(), make([]byte, size)
			open := func(b *testing.B) func(i int) error {
				c := modes[mode](b).Container("inbox")
				if _, err := c.Create(ctx, nil); err != nil {
					b.Fatal(err)
				}
				put := func(i int) error {
					_, err := c.Blob(fmt.Sprintf("folder/blob-%d", i%64)).Put(ctx, bytes.NewReader(content), nil)
					return err
				}
				return put
			}
			b.Run(fmt.Sprintf("%s/put/%d", mode, size), func(b *testing.B) {
				put := open(b)
				b.SetBytes(int64(size))
				for i := 0; b.Loop(); i++ {
					if err := put(i); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/get/%d", mode, size), func(b *testing.B) {
				c := modes[mode](b).Container("inbox")
				_, _ = c.Create(ctx, nil)
				for i := range 64 {
					if _, err := c.Blob(fmt.Sprint(i)).Put(ctx, bytes.NewReader(content), nil); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(int64(size))
				buffer := make([]byte, 256<<10)
				for i := 0; b.Loop(); i++ {
					d, err := c.Blob(fmt.Sprint(i%64)).Get(ctx, nil)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, d.Body, buffer)
					if err != nil || n != int64(size) {
						b.Fatal(n, err)
					}
					_ = d.Body.Close()
				}
			})
		}
	}
}
