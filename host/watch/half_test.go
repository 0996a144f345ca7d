package watch_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/watch"
)

// An app that lacks what was built is taken when it is the same at the next look, and not
// while it changes.
func TestHalf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func() *app.App {
		t.Helper()
		a, err := app.Load(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	put("pom.xml", "azure-functions-maven-plugin")
	for _, name := range []string{"A", "B"} {
		put("target/azure-functions/shop/"+name+"/function.json", `{"bindings": [{"type": "timerTrigger", "name": "t", "schedule": "@daily"}]}`)
	}
	put("target/azure-functions/shop/host.json", "{}")
	runs, h := load(), watch.Half{}
	look := func(when string, want bool) {
		t.Helper()
		if got := h.Whole(load(), runs); errors.Is(got, watch.ErrHalf) != want || got != nil && !want {
			t.Errorf("%s: %v, half there: want %v", when, got, want)
		}
	}
	look("unchanged", false)
	if err := os.RemoveAll(at("target")); err != nil {
		t.Fatal(err)
	}
	look("its output is gone", true)
	put("target/azure-functions/shop/host.json", "{}")
	look("the first file is there", true)
	put("target/azure-functions/shop/A/function.json", `{"bindings": [{"type": "timerTrigger", "name": "t", "schedule": "@daily"}]}`)
	look("the first function is there", true)
	look("nothing has changed since", false)
	put("target/azure-functions/shop/B/function.json", `{"bindings": [{"type": "timerTrigger", "name": "t", "schedule": "@hourly"}]}`)
	look("all is there", false)
	for _, name := range []string{"A", "B"} {
		if err := os.RemoveAll(at("target/azure-functions/shop/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	look("its functions are gone", true)
	if got := h.Whole(load(), runs); got == nil || errors.Is(got, watch.ErrHalf) {
		t.Errorf("an output without functions at the next look: %v, want that it is refused", got)
	}
}
