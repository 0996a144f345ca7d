package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/blobs"
)

func upload(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var contentType string
	var create bool
	cmd := r.Changes(&cobra.Command{
		Use:   "upload CONTAINER/NAME FILE|-",
		Short: "Write a blob of the running host from a file",
		Long: `Upload makes a block blob of a file, or of the standard input for "-", in the
embedded storage of the running host. It replaces a blob of that name, and makes
the container when it does not exist. Blob triggers fire. NAME may have slashes.

Without --content-type the type is guessed as browsers do: from the extension of
NAME, else of FILE, else from the first bytes.`,
		Example: `  redeliver upload invoices/2026/07.json invoice.json
  date | redeliver upload notes/now.txt -`,
		Args:              cli.Arguments(2, 2),
		ValidArgsFunction: remote.CompleteBlob(&r.Target),
		RunE: func(cmd *cobra.Command, args []string) error {
			container, name, err := blobPath(args[0])
			if err != nil {
				return err
			}
			in, err := openInput(std, args[1])
			if err != nil {
				return err
			}
			defer in.Close()
			if contentType == "" {
				contentType = in.guessType(name, args[1])
			}
			c, err := r.Find()
			if err != nil {
				return err
			}
			blob := blobs.Upload{Container: container, Name: name, ContentType: contentType, Create: create, Body: in}
			made, err := remote.Call(cmd.Context(), c, blob, in.measured, func(r *http.Request) {
				r.Header.Set("Expect", "100-continue") // a refusal comes before the bytes go
			})
			if err != nil {
				return err
			}
			return r.Say(made, cli.Textf("uploaded %s to blob %q (%s)\n", cli.Plural(int(made.Size), "byte"), args[0], made.ContentType))
		},
	})
	cmd.Flags().BoolVar(&create, "create", false, "make the container though its name is near to another one")
	cmd.Flags().StringVar(&contentType, "content-type", "", "content type of the blob (default: guessed)")
	return cmd
}

func download(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Changes(&cobra.Command{
		Use:   "download CONTAINER/NAME [FILE|-]",
		Short: "Read a blob of the running host into a file",
		Long: `Download writes a blob of the embedded storage of the running host to FILE, or
to the standard output for "-". FILE is replaced, and left as it was when the
download fails. Without FILE it goes to a file of this folder with the last part
of NAME, which must not exist yet.`,
		Example: `  redeliver download azure-webjobs-hosts/locks/shop/host -
  redeliver download invoices/2026/07.json`,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: remote.CompleteBlob(&r.Target),
		RunE: func(cmd *cobra.Command, args []string) error {
			container, name, err := blobPath(args[0])
			if err != nil {
				return err
			}
			file := ""
			if len(args) > 1 {
				file = args[1]
			} else if file, err = impliedFile(name); err != nil {
				return err
			}
			c, err := r.Find()
			if err != nil {
				return err
			}
			return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
				resp, err := c.Ask(ctx, blobs.Download{Container: container, Name: name})
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				body := answer{resp.Body, args[0]}
				if file == "-" {
					out := cli.DataOut(std.Out)
					_, err := io.Copy(out, body)
					return errors.Join(err, out.Close())
				}
				n, err := writeFile(file, body)
				if err != nil {
					return err
				}
				kind := resp.Header.Get(blobs.BlobContentType)
				return r.Say(remote.Written{File: file, Bytes: n, ContentType: kind}, cli.Textf("downloaded %s to %q (%s)\n", cli.Plural(int(n), "byte"), file, kind))
			})
		},
	})
}

// blobPath takes CONTAINER/NAME apart. The host judges the parts.
func blobPath(arg string) (container, name string, err error) {
	container, name, _ = strings.Cut(arg, "/")
	if container == "." || container == ".." {
		return "", "", cli.Misused(blob.ValidateContainerName(container))
	}
	if container == "" || name == "" {
		return "", "", cli.Hinted(cli.Misused(fmt.Errorf("%q names no blob", arg)), "write CONTAINER/NAME, for instance invoices/2026/07.json")
	}
	return container, name, nil
}

// input is the source of an upload.
type input struct {
	*bufio.Reader
	io.Closer
	size int64 // -1: unknown
}

// measured says in a request how long its body is.
func (in *input) measured(r *http.Request) {
	if r.ContentLength = in.size; in.size == 0 {
		r.Body = http.NoBody
	}
}

// openInput opens a file, or the standard input for "-".
func openInput(std cli.Streams, file string) (*input, error) {
	if file == "-" {
		return &input{bufio.NewReader(&fileReader{r: std.In, size: -1}), io.NopCloser(nil), -1}, nil
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
	in := &input{bufio.NewReader(&fileReader{r: f, size: size, name: file}), f, size}
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

// sniffed is how many bytes of a body a type is guessed from.
const sniffed = 512

// guessType guesses a content type from names, else from the first bytes.
func (in *input) guessType(names ...string) string {
	for _, name := range names {
		if t := mime.TypeByExtension(path.Ext(filepath.ToSlash(name))); t != "" {
			return t
		}
	}
	head, _ := in.Peek(sniffed) // a failure shows when the body is read
	if len(head) == 0 {
		return "application/octet-stream"
	}
	return http.DetectContentType(head)
}

// impliedFile is the file of a download that names none.
func impliedFile(blob string) (string, error) {
	name := path.Base(blob)
	if strings.HasSuffix(blob, "/") || !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return "", cli.Hinted(cli.Misused(fmt.Errorf("no file can be named like blob %q", blob)), "name a FILE, or - for the standard output")
	}
	if _, err := os.Lstat(name); err == nil {
		return "", cli.Hinted(fmt.Errorf("file %q already exists", name), "name it as FILE to replace it")
	}
	return name, nil
}

// answer is a blob on its way in; its errors name it.
type answer struct {
	r    io.Reader
	blob string
}

func (a answer) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("blob %q was not read to its end: %w", a.blob, err)
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
