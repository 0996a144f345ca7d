package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/blobs"
)

// An operation whose body is a stream reads it from FILE, the last argument, and one whose
// answer is a stream writes that to FILE; "-" is the standard input, or output.

// input is a file that is the body of a request.
type input struct {
	*bufio.Reader
	io.Closer
	file string
	size int64 // -1: unknown
}

// measured says in a request how long its body is.
func (in *input) measured(r *http.Request) {
	r.Header.Set("Expect", "100-continue") // a refusal comes before the bytes go
	if r.ContentLength = in.size; in.size == 0 {
		r.Body = http.NoBody
	}
}

// openInput opens a file, or the standard input for "-".
func openInput(std cli.Streams, file string) (*input, error) {
	if file == "-" {
		return &input{bufio.NewReader(&fileReader{r: std.In, size: -1}), io.NopCloser(nil), file, -1}, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", file, cli.Reason(err))
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot read %q: %w", file, cli.Reason(err))
	}
	size := int64(-1) // of a device or a pipe, and of files without a size, as in /proc
	if info.Mode().IsRegular() && info.Size() > 0 {
		size = info.Size()
	}
	in := &input{bufio.NewReader(&fileReader{r: f, size: size, name: file}), f, file, size}
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		in.size = 0
	}
	return in, nil
}

// fileReader reads exactly size bytes, or all when size is below 0, and marks errors
// as its own.
type fileReader struct {
	r    io.Reader
	name string
	size int64
	read int64
}

func (s *fileReader) Read(p []byte) (int, error) {
	if s.size >= 0 {
		p = p[:min(int64(len(p)), s.size-s.read)]
		if len(p) == 0 {
			return 0, io.EOF
		}
	}
	n, err := s.r.Read(p)
	s.read += int64(n)
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		err = &remote.BodyError{Err: fmt.Errorf("cannot read %q: %w", s.name, cli.Reason(err))}
	case s.read < s.size:
		err = &remote.BodyError{Err: fmt.Errorf("cannot read %q: it became shorter while it was read", s.name)}
	}
	return n, err
}

// keep writes an answer that is a stream to a file, the last argument or the one that is
// implied.
func (v Verb[In, Out]) keep(cmd *cobra.Command, r *remote.Remote, in *In, last []string) (err error) {
	file := ""
	if len(last) > 0 {
		file = last[0]
	} else if file, err = v.Implied(in); err != nil {
		return err
	}
	c, err := r.Reach(cmd.Context())
	if err != nil {
		return err
	}
	return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		if file != "-" {
			kept, err := v.Keep(ctx, c, in, func(from io.Reader) (int64, error) { return writeFile(file, from) })
			if err != nil {
				return err
			}
			kept.File = file
			return r.Say(kept, v.Kept(kept))
		}
		out := cli.DataOut(r.Std.Out)
		_, err := v.Keep(ctx, c, in, func(from io.Reader) (int64, error) { return io.Copy(out, from) })
		return errors.Join(err, out.Close())
	})
}

// Keep asks for an operation whose answer is a stream, and has it read.
func (v Verb[In, Out]) Keep(ctx context.Context, c *remote.Client, in *In, read func(from io.Reader) (int64, error)) (kept remote.Written, err error) {
	resp, err := c.Ask(ctx, *in)
	if err != nil {
		return kept, err
	}
	defer resp.Body.Close()
	kept.ContentType = resp.Header.Get(blobs.BlobContentType)
	kept.Bytes, err = read(answer{resp.Body, v.What(in)})
	return kept, err
}

// From asks for an operation whose body is a file, and tells the answer and its text.
func (v Verb[In, Out]) From(ctx context.Context, c *remote.Client, in *In, file string) (out Out, text string, err error) {
	from, err := openInput(cli.Streams{}, file)
	if err != nil {
		return out, "", err
	}
	defer from.Close()
	v.take(in, from)
	if out, err = remote.Call(ctx, c, *in, from.measured); err != nil {
		return out, "", err
	}
	return out, v.text(in, &out), nil
}

// take makes a file the body of an operation.
func (v Verb[In, Out]) take(in *In, from *input) {
	at := reflect.ValueOf(in).Elem()
	for _, field := range reflect.VisibleFields(at.Type()) {
		if paramOf(field).In == "body" {
			at.FieldByIndex(field.Index).Set(reflect.ValueOf(from))
		}
	}
	if v.Opened != nil {
		v.Opened(in, from)
	}
}

// answer is a stream on its way in; its errors name it.
type answer struct {
	r    io.Reader
	what string
}

func (a answer) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s was not read to its end: %w", a.what, err)
	}
	return n, err
}

// writeFile writes a file as a whole: until all has come, the bytes are in a
// file beside it, which only the user may read. A pipe or device is written
// directly.
func writeFile(file string, from io.Reader) (n int64, err error) {
	file = behindLinks(file)
	part, flag := file, os.O_WRONLY
	if info, err := os.Stat(file); err != nil || info.Mode().IsRegular() {
		part, flag = fmt.Sprintf("%s.%d.part", file, os.Getpid()), flag|os.O_CREATE|os.O_EXCL
		_ = os.Remove(part) // an earlier process's of this number, or a link to anywhere
		removeParts(file)
	}
	n, err = fillFile(part, flag, from)
	if part != file {
		if err == nil {
			err = os.Rename(part, file)
		}
		if err != nil {
			os.Remove(part)
		}
	}
	var onDisk *os.PathError
	var renaming *os.LinkError
	switch {
	case errors.As(err, &onDisk):
		err = fmt.Errorf("cannot write %q: %w", file, onDisk.Err)
	case errors.As(err, &renaming):
		err = fmt.Errorf("cannot write %q: %w", file, renaming.Err)
	}
	return n, err
}

// removeParts removes the parts beside a file that processes left which have ended.
// Running processes still need theirs.
func removeParts(file string) {
	beside, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return // writing will tell
	}
	for _, entry := range beside {
		rest, ours := strings.CutPrefix(entry.Name(), filepath.Base(file)+".")
		number, isPart := strings.CutSuffix(rest, ".part")
		if pid, err := strconv.Atoi(number); ours && isPart && err == nil && pid > 0 && entry.Type().IsRegular() && ended(pid) {
			_ = os.Remove(filepath.Join(filepath.Dir(file), entry.Name())) // garbage; the next one tries again
		}
	}
}

// ended reports whether there is no process of that number, for certain.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return runtime.GOOS == "windows" // where it asks the system
	}
	defer func() { _ = p.Release() }()
	return runtime.GOOS != "windows" && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// behindLinks is the file that a symbolic link leads to, whether it exists or not:
// the link stays.
func behindLinks(file string) string {
	for range maxLinks {
		to, err := os.Readlink(file)
		if err != nil {
			break // no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return file
}

// maxLinks is how many links lead to a file at the most, as on Linux.
const maxLinks = 40

func fillFile(name string, flag int, from io.Reader) (int64, error) {
	f, err := os.OpenFile(name, flag, 0o600) // what the services hold is their user's own
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, from)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return n, err
}
