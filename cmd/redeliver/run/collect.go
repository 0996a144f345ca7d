package run

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// By default the collector lets a heap grow to twice of what is in use. A host that keeps
// little, and serves many requests a second, then collects all the time; one that keeps a
// million messages takes half of its memory for garbage. So there may be leastGarbage in
// any case, and more than mostGarbage only if it is a quarter of what is in use.
const (
	leastGarbage = 32 << 20
	mostGarbage  = 64 << 20
	leastPercent = 25
	mostPercent  = 400 // of a small heap, so that an idle host stays small
)

// garbagePercent is how much garbage there may be, in percent of what is in use.
func garbagePercent(live uint64) int {
	room := min(max(live, leastGarbage), mostGarbage)
	return min(max(int(room*100/max(live, 1)), leastPercent), mostPercent)
}

var boundGarbage sync.Once

// keepGarbageBounded fits the collector to the size of the heap, from now on and after
// each collection, unless the user has set it.
func keepGarbageBounded() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	boundGarbage.Do(afterCollection)
}

// afterCollection sets the collector, and again when the next collection has ended: it is
// told by the end of an object that nobody holds.
func afterCollection() {
	fitCollector()
	told := new(*byte)
	runtime.AddCleanup(told, func(struct{}) { afterCollection() }, struct{}{})
}

func fitCollector() {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(samples)
	live, now := samples[0].Value, samples[1].Value
	if live.Kind() != metrics.KindUint64 || now.Kind() != metrics.KindUint64 {
		return
	}
	if want := garbagePercent(live.Uint64()); uint64(want) != now.Uint64() {
		debug.SetGCPercent(want)
	}
}
