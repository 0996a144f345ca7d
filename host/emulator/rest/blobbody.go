package rest

import (
	"io"
	"net/http"
	"os"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// spoolAbove is how much of a body waits in memory when the account cannot stage
// bodies itself; more goes to a temporary file.
const spoolAbove = 4 << 20

// stager is an account that takes a body before the operation that it is for.
// The embedded one does.
type stager interface {
	StageBody(r io.Reader, size, limit int64) (*blobs.StagedBody, error)
	StageBlock(r io.Reader, size, limit int64) (*blobs.StagedBody, error)
}

// stage reads the body of a request to its end, outside the clock, and compares it
// with the CRC-64 that the request brings. The caller calls discard once the
// operation is over.
func (c *Call) stage(limit int64, sums checksums) (body io.Reader, discard func(), err error) {
	if c.R.ContentLength > limit {
		return nil, nil, ErrBodyTooLarge(limit)
	}
	if sums.crc64 == nil && !sums.answerCRC {
		return c.stageBody(c.in, limit, true)
	}
	in := &crcReader{r: c.in}
	if body, discard, err = c.stageBody(in, limit, !sums.block || sums.md5 != nil || c.asked().alwaysMD5()); err != nil {
		return nil, nil, err
	}
	c.crc64 = crcBytes(in.sum)
	if refused := sums.checkCRC(c.crc64); refused != nil {
		discard()
		return nil, nil, refused
	}
	return body, discard, nil
}

// alwaysMD5 reports whether the request is of a version in which a block is answered with
// its MD5 whether or not it brings one (docs: Put Block, Append Block, Put Page,
// "Response headers").
func (a asked) alwaysMD5() bool { return a.version() < "2019-02-02" }

func (c *Call) stageBody(in io.Reader, limit int64, withMD5 bool) (body io.Reader, discard func(), err error) {
	body, discard, err = c.stageFrom(in, max(c.R.ContentLength, 0), limit, withMD5)
	if c.in.Err() != nil {
		return nil, nil, NewError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", "the body ended early: "+c.in.Err().Error())
	}
	return body, discard, err
}

// stageFrom reads content of that size, 0 if it is not known, to its end.
func (c *Call) stageFrom(in io.Reader, size, limit int64, withMD5 bool) (body io.Reader, discard func(), err error) {
	if s, ok := c.Account.Blobs.(stager); ok {
		stage := s.StageBody
		if !withMD5 {
			stage = s.StageBlock
		}
		staged, stageErr := stage(in, size, limit)
		if stageErr == nil {
			return staged, staged.Discard, nil
		}
		err = stageErr
	} else {
		body, discard, err = spool(in, limit)
	}
	if storage.CodeOf(err) == storage.CodeRequestBodyTooLarge {
		err = ErrBodyTooLarge(limit)
	}
	return body, discard, err
}

// spool keeps a body aside: in memory, or in a file if it is large.
func spool(r io.Reader, limit int64) (body io.Reader, discard func(), err error) {
	head, err := io.ReadAll(io.LimitReader(r, min(limit, spoolAbove)+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(head)) > limit {
		return nil, nil, ErrBodyTooLarge(limit)
	}
	if len(head) <= spoolAbove {
		return &spooled{head: head}, func() {}, nil
	}
	file, err := os.CreateTemp("", "redeliver-body-*")
	if err != nil {
		return nil, nil, err
	}
	discard = func() {
		file.Close()
		os.Remove(file.Name())
	}
	n, err := io.Copy(file, io.LimitReader(r, limit-int64(len(head))+1))
	if err == nil && int64(len(head))+n > limit {
		err = ErrBodyTooLarge(limit)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		discard()
		return nil, nil, err
	}
	return &spooled{head: head, file: file}, discard, nil
}

// spooled reads what spool has kept.
type spooled struct {
	head []byte
	file io.Reader // nil: the head is all
}

func (s *spooled) Read(p []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	if s.file == nil {
		return 0, io.EOF
	}
	return s.file.Read(p)
}
