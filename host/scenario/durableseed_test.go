package scenario_test

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/host/worker"
)

// Orchestrations in a worker give the same journal for the same seed, byte for byte, and others
// have other ids of executions. REDELIVER_SOAK says how many seeds are tried.
func TestDurableSameJournal(t *testing.T) {
	t.Parallel()
	dir := durableApp(t)
	pool := worker.NewPool(1)
	defer pool.Close()
	seeds := 3
	if n, err := strconv.Atoi(os.Getenv("REDELIVER_SOAK")); err == nil {
		seeds = max(seeds, n)
	}
	before := []byte(nil)
	for seed := range uint64(seeds) {
		first := durableJournal(t, dir, pool, seed)
		if again := durableJournal(t, dir, pool, seed); !bytes.Equal(first, again) {
			at := 0
			for at < min(len(first), len(again)) && first[at] == again[at] {
				at++
			}
			t.Fatalf("seed %d: the journals differ:\n%.300s\n%.300s", seed, first[max(at-150, 0):], again[max(at-150, 0):])
		}
		if bytes.Equal(first, before) {
			t.Errorf("seed %d gives the journal of the seed before", seed)
		}
		before = first
	}
	if len(before) < 10_000 {
		t.Errorf("a journal of %d bytes", len(before))
	}
}

// durableJournal runs sagas, shops and a fan-out whose activities fail by chance, and returns
// the journal.
func durableJournal(t *testing.T, dir string, pool *worker.Pool, seed uint64) (lines []byte) {
	t.Helper()
	s, faults := scenario.NewSession(map[string]any{"app": ".", "functions": map[string]any{
		"Charge": map[string]any{"handler": []any{map[string]any{"do": "fail", "chance": 0.5}, map[string]any{"take": "3s", "returns": 1}}},
		"Ship":   map[string]any{"handler": []any{map[string]any{"do": "fail", "chance": 0.3}}},
	}}, &scenario.SessionOptions{Dir: dir, Seed: seed, Workers: pool})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	defer func() {
		for _, f := range s.End() {
			t.Error(f.String())
		}
	}()
	failed := s.Open()
	for _, step := range []map[string]any{
		{"startOrchestration": map[string]any{"name": "Saga", "input": 1}},
		{"startOrchestration": map[string]any{"name": "Shops", "input": []any{"a", "b", "c"}}},
		{"startOrchestration": map[string]any{"name": "ShipAll", "input": 20}},
		{"settle": true},
	} {
		more, faults := s.Do(step)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		failed = append(failed, more...)
	}
	for _, f := range failed {
		t.Error(f.String())
	}
	for _, r := range s.Records() {
		lines = append(r.AppendLine(lines), '\n')
	}
	return lines
}
