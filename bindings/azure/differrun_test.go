package azure_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// programBytes are the decisions of a program of a fixed seed.
func programBytes(seed, n uint64) []byte {
	r := rand.New(rand.NewPCG(seed, n))
	b := make([]byte, 2000)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// shrink leaves out what a difference at the end does not need.
func (p *pair) shrink(t testing.TB, program []*exchange, want difference) []*exchange {
	t.Helper()
	for i := len(program) - 2; i >= 0; i-- {
		shorter := slices.Delete(slices.Clone(program), i, i+1)
		if _, found := p.run(t, shorter, map[string]int{}); slices.ContainsFunc(found, func(d difference) bool {
			return d.exchange == want.exchange && d.field == want.field && (d.field != "answer" || d == want)
		}) {
			program = shorter
		}
	}
	return program
}

// differ plays a program and fails, with as little of it as it takes, where the
// two servers do not agree.
func (p *pair) differ(t testing.TB, program []*exchange, known map[string]int) {
	t.Helper()
	last, found := p.run(t, program, known)
	if len(found) == 0 {
		return
	}
	program = p.shrink(t, program[:slices.Index(program, last)+1], found[len(found)-1])
	if _, again := p.run(t, program, known); len(again) > 0 {
		found = again
	}
	var text strings.Builder
	for _, e := range program {
		text.WriteString("\n\t" + e.String())
	}
	for _, d := range found {
		text.WriteString("\n" + d.String())
	}
	t.Errorf("the servers differ:%s", text.String())
}

// TestDifferential plays programs of fixed seeds.
func TestDifferential(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", azuriteMain, azuriteBlobMain)
	const workers, programs = 4, 100
	for w := range uint64(workers) {
		t.Run(strconv.FormatUint(w, 10), func(t *testing.T) {
			t.Parallel()
			p, known := newPair(t), map[string]int{}
			for n := range uint64(programs) {
				p.differ(t, program(programBytes(w, n)), known)
			}
			for _, source := range slices.Sorted(maps.Keys(known)) {
				t.Logf("%5d %s", known[source], source)
			}
		})
	}
}

// FuzzDifferential plays programs that the fuzzer makes up.
func FuzzDifferential(f *testing.F) {
	requireInterop(f, "node", azuriteMain, azuriteBlobMain)
	for n := range uint64(8) {
		f.Add(programBytes(1000, n)[:200])
	}
	p := newPair(f)
	f.Fuzz(func(t *testing.T, choice []byte) { p.differ(t, program(choice), map[string]int{}) })
}
