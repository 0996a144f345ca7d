package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// A data directory holds
//
//	FORMAT      what this is, its version, and which state counts
//	LOCK OWNER  whose it is (owner.go)
//	RESERVE     room for what makes room (reserve.go)
//	0001/       a state: log/ has the keys (log.go), CHECK says how far it had come
//	            (check.go), files/ holds the bodies (files.go)
//
// A new state (Reset, Load) is made in the next number and counts from the
// moment in which FORMAT is replaced; everything else there is then garbage.
// State 0 means that there is none yet.
const (
	formatName = "FORMAT"
	lockName   = "LOCK"
	ownerName  = "OWNER"

	formatVersion = 3
	formatTitle   = "redeliver data"
)

func stateDir(dir string, n int) string { return path.Join(dir, fmt.Sprintf("%04d", n)) }

// readFormat returns the number of the state that counts. found is false in an
// empty directory.
func readFormat(d *disk, dir string) (state int, found bool, err error) {
	name := path.Join(dir, formatName)
	text, err := readAll(d, name)
	if errors.Is(err, fs.ErrNotExist) {
		states, err := listStates(d, dir)
		if err == nil && len(states) > 0 {
			err = corrupt(dir, "%s is missing beside state %04d", formatName, states[0])
		}
		return 0, false, err
	}
	if err != nil {
		return 0, false, err
	}
	title, rest, _ := strings.Cut(string(text), "\n")
	if title != formatTitle {
		return 0, false, corrupt(name, "it does not begin with %q", formatTitle)
	}
	var version int
	if _, err := fmt.Sscanf(rest, "format %d\n", &version); err != nil {
		return 0, false, corrupt(name, "the version cannot be read: %w", err)
	}
	if version != formatVersion {
		return 0, false, &VersionError{Path: dir, Got: version, Want: formatVersion}
	}
	_, rest, _ = strings.Cut(rest, "\n")
	if _, err := fmt.Sscanf(rest, "state %04d\n", &state); err != nil || string(text) != formatText(state) {
		return 0, false, corrupt(name, "the number of the state or its checksum is wrong")
	}
	return state, true, nil
}

func formatText(state int) string {
	text := fmt.Sprintf("%s\nformat %d\nstate %04d\n", formatTitle, formatVersion, state)
	return text + fmt.Sprintf("check %08x\n", crc32.Checksum([]byte(text), castagnoli))
}

// writeFormat makes n the current state, at once or not at all.
func writeFormat(d *disk, dir string, n int) error {
	if err := replaceFile(d, path.Join(dir, formatName), formatText(n)); err != nil {
		return err
	}
	return d.SyncDir(dir)
}

// readAll returns the content of a small file.
func readAll(d *disk, name string) (content []byte, err error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	content = make([]byte, size)
	if _, err := f.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return content, nil
}

// replaceFile gives a small file another content, at once or not at all.
func replaceFile(d *disk, name, content string) error {
	temporary := name + ".new"
	f, err := d.Create(temporary)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(content), 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.Rename(temporary, name)
}

// makeDir makes dir and what leads to it, as durable as commits are.
func makeDir(d *disk, dir string) error {
	switch _, isDir, err := d.Stat(dir); {
	case err == nil && !isDir:
		return &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	above := path.Dir(dir)
	if above != dir {
		if err := makeDir(d, above); err != nil {
			return err
		}
	}
	if err := d.MakeDir(dir); err != nil {
		return err
	}
	if !d.sync {
		return nil
	}
	return d.SyncDir(above)
}

func listStates(d *disk, dir string) ([]int, error) {
	names, err := d.List(dir)
	if err != nil {
		return nil, err
	}
	var states []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil && len(name) >= 4 {
			states = append(states, n)
		}
	}
	return states, nil
}

// removeOtherStates is best effort: what stays is tried again at the next open.
func removeOtherStates(d *disk, dir string, keep int) {
	states, err := listStates(d, dir)
	if err != nil {
		return
	}
	for _, n := range states {
		if n != keep {
			_ = d.RemoveAll(stateDir(dir, n))
		}
	}
}
