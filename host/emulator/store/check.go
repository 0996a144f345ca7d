package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
)

// The end of a log that is missing looks like one that was never written. So CHECK, in the
// state's directory, says how far the log had come when its last segment was begun, and
// when the store was closed. Less than that is damage.
const checkName = "CHECK"

// account is the content of CHECK.
type account struct {
	frames  uint64 // the number of a frame that is on the disk
	segment uint64 // the number of a segment that is
}

func (a account) text() string {
	text := fmt.Sprintf("frames %d\nsegment %d\n", a.frames, a.segment)
	return text + fmt.Sprintf("check %08x\n", crc32.Checksum([]byte(text), castagnoli))
}

func (e *engine) checkPath() string { return path.Join(e.dir, checkName) }

func (e *engine) readCheck() (a account, err error) {
	text, err := readAll(e.disk, e.checkPath())
	if errors.Is(err, fs.ErrNotExist) {
		return a, corrupt(e.checkPath(), "it is missing")
	}
	if err != nil {
		return a, err
	}
	_, err = fmt.Sscanf(string(text), "frames %d\nsegment %d\n", &a.frames, &a.segment)
	if err != nil || string(text) != a.text() {
		return a, corrupt(e.checkPath(), "it cannot be read")
	}
	return a, nil
}

// writeCheck replaces CHECK. All that it says must be on the disk.
func (e *engine) writeCheck(a account) error {
	err := replaceFile(e.disk, e.checkPath(), a.text())
	if err == nil {
		e.checked = a
	}
	return err
}

// checkEnd refuses a log that has not all that it had, and notes how far it has come.
func (e *engine) checkEnd() error {
	then, err := e.readCheck()
	last := e.log.last()
	switch {
	case err != nil:
		return err
	case last.number < then.segment:
		return corrupt(segmentName(e.logDir(), then.segment), "it is missing")
	case e.log.number < then.frames:
		return corrupt(last.name, "%d of %d frames are missing", then.frames-e.log.number, then.frames)
	}
	// What was acknowledged is in what was found, whether CHECK had come so far or not.
	e.synced.number, e.checked = e.log.number, then
	if e.log.number > then.frames {
		_ = e.checkNow() // on a full disk the former one holds
	}
	return nil
}

// checkNow puts the log on the disk, and notes how far it has come.
func (e *engine) checkNow() error {
	now := account{frames: e.log.number, segment: e.log.last().number}
	if e.checked == now {
		return nil
	}
	if err := e.log.last().f.Sync(); err != nil {
		return err
	}
	_ = e.writeCheck(now) // the former one holds too
	return nil
}
