package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/osfile"
	"github.com/redeliver/redeliver/host/app"
)

// StateDir is the folder of redeliver below an app: never watched, and ignored by
// git.
const StateDir = ".redeliver"

// RunInfo says which host runs an app and how to reach it. It is kept in
// .redeliver/run.json while the host runs.
type RunInfo struct {
	PID int `json:"pid"`
	// Secret proves the identity of the host: another process may have its port by
	// now. The file is as private as keys.json.
	Secret string `json:"secret"`

	Address string    `json:"address"` // "http://localhost:7071"
	Started time.Time `json:"started"`

	// Storage has the connection strings of the embedded storage accounts for
	// clients, one each.
	Storage []string `json:"storage,omitempty"`

	// StorageKeys are the keys of these accounts that the user chose.
	StorageKeys []StorageKey `json:"storageKeys,omitempty"`

	// ServiceBus is the same for the embedded Service Bus namespace, and
	// ServiceBusAdmin for its administration.
	ServiceBus      string `json:"serviceBus,omitempty"`
	ServiceBusAdmin string `json:"serviceBusAdmin,omitempty"`

	// EventGrid is where topics are served: http://127.0.0.1:60101.
	EventGrid string `json:"eventGrid,omitempty"`
}

func runPath(dir string) string { return filepath.Join(app.StateFolder(dir), "run.json") }

// ReadRun returns the run file of the app in dir; an error that is
// fs.ErrNotExist means that there is none.
func ReadRun(dir string) (RunInfo, error) {
	var info RunInfo
	text, err := os.ReadFile(runPath(dir))
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(text, &info); err != nil || info.Address == "" {
		return info, fmt.Errorf("%q is not a run file", runPath(dir))
	}
	return info, nil
}

// Ownership is the right to run the app of one folder. One process has it: it
// holds a lock of the operating system, which ends with the process, however
// that comes about. A run file without the lock is a leftover.
type Ownership struct {
	dir     string
	Lock    *os.File
	Exposed error // why other users may read the folder; nil: they may not
}

// Own takes the app in dir. It fails with an *OwnedError when another process
// runs it.
func Own(dir string) (*Ownership, error) {
	state := app.StateFolder(dir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, unwritable(dir, err)
	}
	exposed := makePrivate(state)
	if err := ignoreInGit(state); err != nil {
		return nil, unwritable(state, err)
	}
	f, err := os.OpenFile(filepath.Join(state, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unwritable(state, err)
	}
	ok, err := lockSoon(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", f.Name(), err)
	}
	if !ok {
		f.Close()
		info, _ := ReadRun(dir) // it may be starting, and have no file yet
		return nil, &OwnedError{info}
	}
	o := &Ownership{dir: dir, Lock: f, Exposed: exposed}
	if err := o.Forget(); err != nil {
		o.Release()
		return nil, unwritable(state, err)
	}
	return o, nil
}

// makePrivate closes the state folder to other users: it holds keys and messages.
// On Windows the rights of the folder above hold.
func makePrivate(state string) error {
	info, err := os.Stat(state)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if err = os.Chmod(state, 0o700); err != nil {
		return err
	}
	if info, err = os.Stat(state); err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("the mode of %q stays %v", state, info.Mode().Perm())
	}
	return err
}

// unwritable reports that a folder cannot be written, if err means that.
func unwritable(dir string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return cli.Hinted(fmt.Errorf("folder %q of the app's keys and state cannot be written: %w", dir, err), cli.WriteHint(err, dir))
}

// lockSoon takes the lock of the app. Commands that ask whether a host has it hold
// it for a moment, together: that does not count as a host.
func lockSoon(f *os.File) (bool, error) {
	for range lockTries {
		if ok, err := osfile.Try(f, osfile.Exclusive); ok || err != nil {
			return ok, err
		}
		time.Sleep(releasePoll) // real time: other processes
	}
	return false, nil
}

// lockTries is how often lockSoon looks: for a tenth of a second.
const lockTries = 10

// Owned reports whether a process runs the app in dir, starts it or ends it.
func Owned(dir string) bool {
	f, err := os.Open(filepath.Join(app.StateFolder(dir), "lock"))
	if err != nil {
		return false
	}
	defer f.Close() // the lock with it
	free, err := osfile.Try(f, osfile.Shared)
	return err == nil && !free
}

// NewSecret makes the secret of one run.
func NewSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// ignoreInGit makes git ignore the folder and all that is in it.
func ignoreInGit(state string) error {
	path := filepath.Join(state, ".gitignore")
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return os.WriteFile(path, []byte("*\n"), 0o644)
}

// Publish writes the run file, in one step. On a full disk it takes the room of the
// last one.
func (o *Ownership) Publish(info RunInfo) error {
	text, err := json.Marshal(info)
	if err != nil { // numbers, text and a time always marshal
		panic(err)
	}
	fresh := runPath(o.dir) + ".new"
	err = os.WriteFile(fresh, append(text, '\n'), 0o600)
	if errors.Is(err, syscall.ENOSPC) {
		_ = os.Remove(fresh) // it may be there, and empty
		if overwrite(lastRunPath(o.dir), append(text, '\n')) == nil {
			fresh, err = lastRunPath(o.dir), nil
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return cli.Hinted(fmt.Errorf("no space is left on the disk for the host's run file: %w", err), "make room on the disk of "+cli.ShellWord(o.dir))
	case err != nil:
		return err
	}
	return osfile.Replace(fresh, runPath(o.dir))
}

// lastRunPath is where a run file stays that counts no more: its room is for the next.
func lastRunPath(dir string) string { return runPath(dir) + ".last" }

// overwrite writes text in the room of a file.
func overwrite(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Truncate(int64(len(text)))
	}
	return errors.Join(err, f.Close())
}

// Forget keeps the run file as the one of the last run: no host runs any more.
func (o *Ownership) Forget() error {
	err := osfile.Replace(runPath(o.dir), lastRunPath(o.dir))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Remove(runPath(o.dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Release removes the run file and leaves the app to the next process. The lock
// file stays: to remove it would let two processes lock two files.
func (o *Ownership) Release() error {
	err := o.Forget()
	return errors.Join(err, o.Lock.Close())
}

// AwaitRelease waits until the process that runs the app in dir as info says has
// let go of it, or ctx ends.
func AwaitRelease(ctx context.Context, dir string, info RunInfo) error {
	for {
		if now, err := ReadRun(dir); err == nil && (now.PID != info.PID || !now.Started.Equal(info.Started)) {
			return nil // another one runs it already
		}
		if !Owned(dir) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(releasePoll):
		}
	}
}

// releasePoll is how often AwaitRelease looks: locks of the operating system do not
// announce that they are free.
const releasePoll = 10 * time.Millisecond

// OwnedError says that another process runs the app.
type OwnedError struct{ info RunInfo }

func (e *OwnedError) Error() string {
	if e.info.PID == 0 {
		return "another process runs this app already"
	}
	return fmt.Sprintf("process %d runs this app already, at %s", e.info.PID, e.info.Address)
}

// StorageKey is a key of a storage account that the user chose.
type StorageKey struct {
	Account string   `json:"account"`
	Keys    []string `json:"keys"`
}
