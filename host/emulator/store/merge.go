package store

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The engine makes room from removed keys by merging tables, for which it needs room
// first. If it finds none, no harm is done: it removes the written part, and tries
// again when there is room. It leaves roomToMerge alone, for the logs and the tables
// that are made of them. Without this removals do not get through on a full disk
// (TestRemovalsOnAFullDisk), and without mergeAgain tables grow for ever after one
// (TestMergingWithoutRoomRests).

// mergeCategory is how the engine marks the tables that it merges others into.
const mergeCategory vfs.DiskWriteCategory = "pebble-compaction"

// mergePatience is how long compact waits in real time, at the most.
const mergePatience = 10 * time.Second

// merging is the state of an engine whose merging has found no room.
type merging struct {
	stuck bool
	need  uint64 // that has to be free before it tries again; 0: not looked yet
}

// stopMerging ends the merging after a lack of room.
func (e *engine) stopMerging() {
	e.compactions.allow(false)
	e.merging.Store(&merging{stuck: true})
}

// mergeAgain lets the engine merge tables again once more is free.
func (e *engine) mergeAgain() {
	m := e.merging.Load()
	if m == nil || !m.stuck {
		return
	}
	usage, err := e.disk.GetDiskUsage(e.dir)
	switch {
	case err != nil:
	case m.need == 0:
		e.merging.CompareAndSwap(m, &merging{stuck: true, need: min(usage.AvailBytes+roomToMerge, plenty)})
	case usage.AvailBytes >= m.need:
		e.merge()
	}
}

// merge lets the engine merge tables, unless it has failed.
func (e *engine) merge() {
	e.merging.Store(nil)
	e.compactions.allow(e.failed() == nil)
}

// compact merges the tables that hold keys of a range, as far as it comes.
func (e *engine) compact(r keyRange) {
	ctx, cancel := context.WithTimeout(context.Background(), mergePatience)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-e.broken:
		case <-ctx.Done():
		}
	}()
	_ = e.db.Compact(ctx, r.start, r.end, false) // it is tried for the sake of room only
}
