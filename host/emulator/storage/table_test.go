package storage_test

import (
	"testing"

	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

func TestTableConformance(t *testing.T) {
	t.Parallel()
	t.Run("Memory", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunTable(t, func(*testing.T) *bindingtest.TableBackend {
			clk := newVirtual()
			return &bindingtest.TableBackend{Account: storage.New(clk, nil), Do: func(f func()) { clk.Do("test", f) }}
		})
	})
	// Each call goes to an account that was opened anew from the store.
	t.Run("Reopened", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunTable(t, func(t *testing.T) *bindingtest.TableBackend {
			clk := newVirtual()
			db, err := store.OpenMemory(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			b := &bindingtest.TableBackend{}
			b.Do = func(f func()) {
				s, err := storage.Open(clk, db, nil)
				if err != nil {
					t.Fatal(err)
				}
				b.Account = s
				clk.Do("test", f)
			}
			return b
		})
	})
}
