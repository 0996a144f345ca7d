package web_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/web"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".redeliver", "keys.json")
	keys, err := web.OpenKeys(path, "Orders")
	if err != nil {
		t.Fatal(err)
	}

	t.Run("made once", func(t *testing.T) {
		again, err := web.OpenKeys(path, "orders")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(keys.All(), again.All()); diff != "" {
			t.Errorf("keys changed when read again (-first +second):\n%s", diff)
		}
	})

	t.Run("all kinds", func(t *testing.T) {
		var got []string
		seen := map[string]bool{}
		for _, k := range keys.All() {
			got = append(got, strings.Join([]string{k.Kind, k.Function, k.Name}, "/"))
			if len(k.Value) < 40 || seen[k.Value] {
				t.Errorf("key %s is short or not its own: %q", k.Kind, k.Value)
			}
			seen[k.Value] = true
		}
		want := []string{"master//", "host//default", "system//blobs_extension", "system//durabletask_extension", "system//eventgrid_extension", "function/Orders/default"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	})

	t.Run("levels", func(t *testing.T) {
		value := map[string]string{}
		for _, k := range keys.All() {
			value[k.Kind] = k.Value
		}
		for _, tt := range []struct {
			name, key, function string
			want                web.Level
		}{
			{"no key", "", "Orders", web.Anonymous},
			{"wrong key", "x", "Orders", web.Anonymous},
			{"master", value["master"], "Orders", web.AdminLevel},
			{"master without a function", value["master"], "", web.AdminLevel},
			{"host", value["host"], "Orders", web.FunctionLevel},
			{"host at any function", value["host"], "Other", web.FunctionLevel},
			{"host without a function", value["host"], "", web.Anonymous},
			{"function", value["function"], "ORDERS", web.FunctionLevel},
			{"function at another", value["function"], "Other", web.Anonymous},
			{"system", value["system"], "Orders", web.SystemLevel},
		} {
			if got := keys.Level(tt.key, tt.function); got != tt.want {
				t.Errorf("%s: Level = %d, want %d", tt.name, got, tt.want)
			}
		}
	})

	t.Run("only the owner may read", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("files have no mode there")
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("mode of the key file = %v, want -rw-------", mode)
		}
	})

	t.Run("not a key file", func(t *testing.T) {
		bad := filepath.Join(t.TempDir(), "keys.json")
		if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := web.OpenKeys(bad); err == nil || !strings.Contains(err.Error(), "is not a key file") {
			t.Errorf("OpenKeys = %v, want an error that says so", err)
		}
	})
}
