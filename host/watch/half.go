package watch

import (
	"errors"
	"time"

	"github.com/redeliver/redeliver/host/app"
)

// outputQuiet is how long the files of an app have to be left alone before an app that lacks
// what a build had written is taken as it is: builds remove what they write anew, and write it
// file by file.
const outputQuiet = 2 * time.Second

// ErrHalf is the error of an app that a build is writing: it is to be looked at again when its
// files have been left alone for a while.
var ErrHalf = errors.New("the app is half there")

var errNone = errors.New("the output of the build declares no function any more: the app that runs stays until it is built again")

// Half knows an app that a build is about to write. Its methods are for one goroutine.
type Half struct {
	seen string // the fingerprint of the app that was half there at the last look
}

// Whole is what keeps an app, whose files have changed, from taking the place of the one that runs:
// [ErrHalf] when it lacks a file that a build had written for that, unless it is at this look
// just as it was at the last one, for then it is meant to be so; and that the output of a build declares no
// function, which is never a finished one.
func (h *Half) Whole(now, runs *app.App) error {
	if lacks := now.Lacks(runs); lacks != "" && h.seen != now.Fingerprint {
		h.seen = now.Fingerprint
		return ErrHalf
	}
	h.seen = ""
	if now.OK() && now.Handler.Root != "" && len(now.Functions) == 0 && len(runs.Functions) > 0 {
		return errNone
	}
	return nil
}
