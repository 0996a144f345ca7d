package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// The engine knows its tables and logs from one file, the manifest, and takes
// damage in it for its end: everything that was recorded behind is then gone
// without a word. So the store keeps a second account. Each batch writes its
// number, and CHECK in the state's directory says what there was at the last
// Open or Close. Less of anything means that something is missing (TestDamageIsNamed,
// TestAShortLogIsNamed).
const checkName = "CHECK"

var batchesKey = []byte{0, 'n'}

// account is the content of CHECK.
type account struct {
	batches  uint64 // committed since the state was made
	log      uint64 // number of the newest log
	manifest uint64 // number of the newest manifest
	size     int64  // its length
}

func (a account) text() string {
	text := fmt.Sprintf("batches %d\nlog %d\nmanifest %d\nsize %d\n", a.batches, a.log, a.manifest, a.size)
	return text + fmt.Sprintf("check %08x\n", crc32.Checksum([]byte(text), castagnoli))
}

func (e *engine) checkPath() string { return path.Join(e.dir, checkName) }

func (e *engine) readCheck() (a account, err error) {
	f, err := e.disk.Open(e.checkPath())
	if err != nil {
		return a, err
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return a, err
	}
	_, err = fmt.Sscanf(string(text), "batches %d\nlog %d\nmanifest %d\nsize %d\n", &a.batches, &a.log, &a.manifest, &a.size)
	if err != nil || string(text) != a.text() {
		return a, corrupt(e.checkPath(), "it cannot be read")
	}
	return a, nil
}

// writeCheck replaces CHECK. All that it counts must be on disk.
func (e *engine) writeCheck() error {
	now, err := e.account()
	if err != nil {
		return err
	}
	temporary := e.checkPath() + ".new"
	f, err := e.disk.Create(temporary, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = io.WriteString(f, now.text()); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return e.disk.Rename(temporary, e.checkPath())
}

func (e *engine) keysDir() string { return path.Join(e.dir, "db") }

func (e *engine) manifestPath(n uint64) string {
	return path.Join(e.keysDir(), fmt.Sprintf("MANIFEST-%06d", n))
}

// account looks at what there is now.
func (e *engine) account() (a account, err error) {
	names, err := e.disk.List(e.keysDir())
	if errors.Is(err, fs.ErrNotExist) {
		return a, corrupt(e.dir, "its keys are missing")
	}
	if err != nil {
		return a, err
	}
	for _, name := range names {
		if number, ok := strings.CutSuffix(name, ".log"); ok {
			n, _ := strconv.ParseUint(number, 10, 64) // not a log, if not a number
			a.log = max(a.log, n)
		}
		if number, ok := strings.CutPrefix(name, "MANIFEST-"); ok {
			n, _ := strconv.ParseUint(number, 10, 64)
			a.manifest = max(a.manifest, n)
		}
	}
	info, err := e.disk.Stat(e.manifestPath(a.manifest))
	if err != nil {
		return a, err
	}
	a.batches, a.size = e.batches, info.Size()
	return a, nil
}

// checkFiles refuses a state whose manifest or log is not what it was, before
// the engine sees it and makes others.
func (e *engine) checkFiles() error {
	then, err := e.readCheck()
	if err != nil {
		return err
	}
	now, err := e.account()
	switch {
	case err != nil:
		return err
	case now.log < then.log && now.manifest == then.manifest:
		// With a newer manifest an Open may have come to its end before its own log
		// was there, when it needed the old one no more.
		return corrupt(e.keysDir(), "log %06d is missing", then.log)
	}
	least := int64(0)
	if now.manifest == then.manifest {
		least = then.size
	}
	if err := auditManifest(e.disk, e.manifestPath(now.manifest), least); err != nil {
		return err
	}
	if now.log == 0 {
		return nil
	}
	return auditLog(e.disk, path.Join(e.keysDir(), fmt.Sprintf("%06d.log", now.log)), now.log)
}

// checkBatches counts what the engine has found, and takes it down.
func (e *engine) checkBatches(create bool) error {
	value, closer, err := e.db.Get(batchesKey)
	switch {
	case err == nil && len(value) == 8:
		e.batches = binary.BigEndian.Uint64(value)
		err = closer.Close()
	case err == nil:
		err = errors.Join(corrupt(e.dir, "the number of batches cannot be read"), closer.Close())
	case errors.Is(err, pebble.ErrNotFound):
		err = nil
	}
	if err != nil {
		return err
	}
	if !create {
		then, err := e.readCheck()
		if err != nil {
			return err
		}
		if e.batches < then.batches {
			return corrupt(e.dir, "%d of %d batches are missing", then.batches-e.batches, then.batches)
		}
	}
	if e.readOnly {
		return nil
	}
	if err := e.writeCheck(); err != nil || !create {
		return err
	}
	return syncDir(e.disk, e.dir)
}
