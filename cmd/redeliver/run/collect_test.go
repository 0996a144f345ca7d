package run

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestGarbagePercent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		live uint64
		want int
	}{
		{0, 400}, {8 << 20, 400}, {16 << 20, 200}, {32 << 20, 100}, {64 << 20, 100}, {128 << 20, 50}, {256 << 20, 25}, {4 << 30, 25},
	} {
		if got := garbagePercent(tt.live); got != tt.want {
			t.Errorf("garbage beside %d MB in use: %d %%, want %d %%", tt.live>>20, got, tt.want)
		}
	}
}

// TestCollectorFitsTheHeap is not parallel: it changes the collector of the process.
func TestCollectorFitsTheHeap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() uint64 {
		runtime.GC()
		fitCollector()
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	much := make([]byte, 512<<20) // never touched, so that it takes no memory
	if got := percent(); got != leastPercent {
		t.Errorf("garbage beside 512 MB in use: %d %%, want %d %%", got, leastPercent)
	}
	runtime.KeepAlive(much)
	much = nil
	if got := percent(); got < 2*leastPercent {
		t.Errorf("garbage beside little in use: %d %%, want the room back", got)
	}
}
