package retrycontext_test

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

// golden reads a table of tab-separated fields, without its comments.
func golden(t testing.TB, file string, fields int) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		row := strings.Split(lines.Text(), "\t")
		if len(row) != fields {
			t.Fatalf("%s: %q has %d fields, want %d", file, lines.Text(), len(row), fields)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return rows
}

func span(t testing.TB, s string) time.Duration {
	t.Helper()
	d, err := retrycontext.ParseTimeSpan(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func fixed(n int, d time.Duration) *retrycontext.Policy {
	return &retrycontext.Policy{Strategy: retrycontext.FixedDelay, MaxRetryCount: n, DelayInterval: d}
}

func exponential(n int, minimum, maximum time.Duration) *retrycontext.Policy {
	return &retrycontext.Policy{Strategy: retrycontext.ExponentialBackoff, MaxRetryCount: n,
		MinimumInterval: minimum, MaximumInterval: maximum}
}
