package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/services"
)

// dataDir is the folder, below an app's state folder, in which the embedded
// storage accounts are kept unless --data says otherwise.
const dataDir = "data"

// addStore adds the flags that say where the embedded accounts are kept.
func addStore(cmd *cobra.Command, f *startFlags) {
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "keep the data of the embedded services in this folder (default DIR/.redeliver/data)")
	flags.BoolVar(&f.sync, "sync", false, "write through to the disk, so that the data survives a power cut too")
	flags.BoolVar(&f.inMemory, "in-memory", false, "keep no data: the embedded services are in memory only")
}

// checkStore refuses flags that contradict each other.
func (f *startFlags) checkStore() error {
	for name, given := range map[string]bool{"data": f.data != "", "sync": f.sync} {
		if given && f.inMemory {
			return cli.Misused(fmt.Errorf("--in-memory and --%s exclude each other", name))
		}
	}
	return nil
}

// openStore opens the store of the embedded accounts, unless they are in memory.
func (c *common) openStore() error {
	if c.flags.inMemory {
		return nil
	}
	dir := c.flags.data
	if dir == "" {
		dir = filepath.Join(app.StateFolder(c.first().dir), dataDir)
	}
	db, err := store.Open(dir, &store.Options{Sync: c.flags.sync, Refusing: c.tellRefusing})
	if err != nil {
		return storeError(err)
	}
	c.store = db
	if err := db.Exposed(); err != nil {
		c.out.Say("warning", fmt.Sprintf("other users of this machine may read the data folder: %v", err))
	}
	return nil
}

// tellRefusing reports once that the data folder cannot be written, and once that
// it can again.
func (c *common) tellRefusing(reason error) {
	switch {
	case reason == nil:
		c.out.Say("info", "the data folder can be written again")
	case errors.Is(reason, store.ErrDiskFull):
		c.out.Say("warning", "no space is left on the disk of the data folder: the services refuse every change until there is room; their data can be read and saved")
	default:
		c.out.Say("warning", fmt.Sprintf("the data folder cannot be written (%v): the services refuse every change until then; their data can be read and saved", reason))
	}
}

// newClock returns the clock of the session. It does not start before the times
// that the store holds.
func (c *common) newClock(accounts []string) (*clock.Virtual, error) {
	now := time.Now()
	start, err := services.StartTime(c.store, accounts...)
	if err != nil {
		return nil, storeError(err)
	}
	if ahead := start.Sub(now); ahead > time.Second {
		c.out.Say("info", fmt.Sprintf("the clock starts %s ahead of the wall, where the last session left it; an empty --data folder starts at the wall", cli.RoundTime(ahead)))
	}
	return clock.NewVirtual(start, &clock.VirtualOptions{
		Seed: c.flags.seed, Arrival: true,
		Notify: func(n clock.Notice) {
			if host := c.first().host; host != nil {
				host.ClockNotice(n)
			}
		},
	}), nil
}

// storeError adds what can be done about a data folder that cannot be used.
func storeError(err error) error {
	var inUse *store.InUseError
	var unwritable *store.UnwritableError
	var version *store.VersionError
	var corrupt *store.CorruptError
	switch {
	case errors.As(err, &inUse):
		return cli.Hinted(inUse, "stop that process, or choose another folder with --data, or none with --in-memory")
	case errors.As(err, &unwritable):
		return cli.Hinted(unwritable, cli.WriteHint(unwritable, unwritable.Dir)+", or choose another folder with --data, or none with --in-memory")
	case errors.As(err, &version):
		return cli.Hinted(version, `run the version that wrote it ("redeliver state save FILE" there and "redeliver state load FILE" here bring its state), or choose another folder with --data`)
	case errors.As(err, &corrupt):
		return cli.Hinted(corrupt, `move the folder away to start empty ("redeliver state load FILE" then brings back a saved state), or choose another one with --data`)
	case errors.Is(err, store.ErrDiskFull):
		return cli.Hinted(err, "make room, choose another folder with --data, or none with --in-memory")
	}
	return cli.Hinted(fmt.Errorf("the services cannot keep their data: %w", err), "choose another folder with --data, or none with --in-memory")
}

// dataLine says where queues and blobs are.
func (c *common) dataLine() string {
	switch {
	case c.store == nil:
		return "in memory, until the host ends"
	case c.flags.sync:
		return cli.Short(filepath.FromSlash(c.store.Dir())) + " (synced)"
	}
	return cli.Short(filepath.FromSlash(c.store.Dir()))
}
