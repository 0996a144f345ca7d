package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/verbs"
	"github.com/redeliver/redeliver/host/ops/blobs"
	"github.com/redeliver/redeliver/host/ops/messages"
	"github.com/redeliver/redeliver/host/ops/run"
)

// The tools that read or write files: in the assistant's folder only, and none that is there is
// replaced.

// text is an argument that is a text.
func text(name, about string, required bool) mcp.Argument {
	return mcp.Argument{Name: name, Required: required, Schema: map[string]any{"type": "string", "description": about}}
}

// listBlobs are the blobs of a container.
func (a *assistant) listBlobs() mcp.Way {
	w := mcp.Asked(a.ask, "", mcp.Reads, messages.ListMessages{Service: blobs.Service.Name}, func(in *messages.ListMessages, out *messages.Messages) string {
		var b strings.Builder
		cli.Writef(&b, "container %q: %s", in.Entity, cli.Plural(len(out.Messages), "blob"))
		if out.More {
			b.WriteString(", and more: search or a larger limit shows others")
		}
		b.WriteByte('\n')
		for i := range out.Messages {
			m := &out.Messages[i]
			cli.Writef(&b, "  %s  %s\n", m.ID, cli.Plural(int(m.Size), "byte"))
		}
		return b.String()
	})
	w.About = "The blobs of a container, with the beginning of those that are text."
	return w.Without("states").Named("entity").Described("name", "CONTAINER").Described("search", "only blobs with this in their name, or in a body that is text")
}

// download is "redeliver download", which tells a short text where no file is named.
func (a *assistant) download() mcp.Way {
	return mcp.Way{
		About:     "Read a blob: a text of up to 4 KiB is told, anything else goes to a new file of the folder.",
		Effect:    mcp.Changes,
		Arguments: []mcp.Argument{text("name", "CONTAINER/NAME, e.g. invoices/2026/07.json", true), text("file", "a new file in the folder; without it the text is told", false)},
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			var in blobs.Download
			name, _ := given["name"].(string)
			if err := verbs.DownloadBlob.First(&in, name); err != nil {
				return mcp.Answer{}, err
			}
			if given["file"] != nil {
				return keep(ctx, a, verbs.DownloadBlob.Keep, &in, given, verbs.DownloadBlob.Kept)
			}
			c, err := a.host()
			if err != nil {
				return mcp.Answer{}, err
			}
			defer c.HTTP.CloseIdleConnections()
			var body bytes.Buffer
			got, err := verbs.DownloadBlob.Keep(ctx, c, &in, func(from io.Reader) (int64, error) {
				return io.Copy(&body, io.LimitReader(from, mcp.MaxText+1))
			})
			if err == nil && (got.Bytes > mcp.MaxText || !utf8.Valid(body.Bytes())) {
				err = cli.Hinted(fmt.Errorf("blob %q is longer than %d bytes, or no text", name, mcp.MaxText), "name a new file of the folder: file")
			}
			return mcp.Answer{Text: body.String()}, a.ended(ctx, c, err)
		},
	}
}

// upload is "redeliver upload".
func (a *assistant) upload() mcp.Way {
	return mcp.Way{
		About:     "Write a blob from a file of the folder, in the place of one of that name. Its container is made when it is missing, and blob triggers fire.",
		Effect:    mcp.Changes,
		Answer:    "BlobInfo",
		Arguments: []mcp.Argument{text("name", "CONTAINER/NAME, e.g. invoices/2026/07.json", true), text("file", "a file in the folder", true)},
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			var in blobs.Upload
			name, _ := given["name"].(string)
			if err := verbs.UploadBlob.First(&in, name); err != nil {
				return mcp.Answer{}, err
			}
			return from(ctx, a, verbs.UploadBlob.From, &in, given)
		},
	}
}

// saveState is "redeliver state save".
func (a *assistant) saveState() mcp.Way {
	return mcp.Way{
		Name: "save", Effect: mcp.Changes, About: "Write the state, as it is at one moment, to a new file of the folder.",
		Arguments: []mcp.Argument{text("file", "a file in the folder", true)},
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			return keep(ctx, a, verbs.SaveState.Keep, &run.SaveState{}, given, verbs.SaveState.Kept)
		},
	}
}

// loadState is "redeliver state load".
func (a *assistant) loadState() mcp.Way {
	return mcp.Way{
		Name: "load", Effect: mcp.Destroys, About: mcp.Prose(verbs.LoadState.Long, 1),
		Arguments: []mcp.Argument{text("file", "a file in the folder", true)},
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			return from(ctx, a, verbs.LoadState.From, &run.LoadState{}, given)
		},
	}
}

// from asks for an operation whose body is a file of the folder.
func from[In, Out any](ctx context.Context, a *assistant, do func(context.Context, *remote.Client, *In, string) (Out, string, error), in *In, given map[string]any) (mcp.Answer, error) {
	name, _ := given["file"].(string)
	paths, err := a.below([]string{name})
	if err != nil {
		return mcp.Answer{}, err
	}
	c, err := a.host()
	if err != nil {
		return mcp.Answer{}, err
	}
	defer c.HTTP.CloseIdleConnections()
	if paths[0] == "-" { // which is the standard input of a command
		paths[0] = "./-"
	}
	out, text, err := do(ctx, c, in, paths[0])
	return mcp.Answer{Text: text, Data: out}, a.ended(ctx, c, err)
}

// keep writes an answer that is a stream to a new file of the folder.
func keep[In any](ctx context.Context, a *assistant, do func(context.Context, *remote.Client, *In, func(io.Reader) (int64, error)) (remote.Written, error), in *In, given map[string]any, told func(remote.Written) string) (mcp.Answer, error) {
	name, _ := given["file"].(string)
	c, err := a.host()
	if err != nil {
		return mcp.Answer{}, err
	}
	defer c.HTTP.CloseIdleConnections()
	kept, err := do(ctx, c, in, func(from io.Reader) (int64, error) { return a.newFile(name, from) })
	if err != nil {
		return mcp.Answer{}, a.ended(ctx, c, err)
	}
	kept.File = name
	return mcp.Answer{Text: told(kept), Data: kept}, nil
}

// newFile writes a file that is not there yet, in the assistant's folder; no part of it stays
// when that fails.
func (a *assistant) newFile(name string, from io.Reader) (n int64, err error) {
	root, err := os.OpenRoot(a.dir) // which no link leads out of
	if err != nil {
		return 0, cli.Reason(err)
	}
	defer root.Close()
	local := name
	if rel, err := filepath.Rel(a.dir, name); filepath.IsAbs(name) && err == nil {
		local = rel
	}
	f, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return 0, cli.Hinted(fmt.Errorf("file %q already exists", name), "name another one: an assistant replaces none")
	case err != nil && !filepath.IsLocal(local):
		return 0, a.notIn(name)
	case err != nil:
		return 0, fmt.Errorf("cannot write %q: %w", name, cli.Reason(err))
	}
	n, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, errors.Join(err, root.Remove(local))
	}
	return n, nil
}

// notIn refuses a path that leads out of the folder.
func (a *assistant) notIn(path string) error {
	return cli.Hinted(fmt.Errorf("%q is not in the folder %q", path, a.dir), "the assistant reads and writes in its folder only")
}

// below are paths in the assistant's folder; without paths the folder itself. A path that
// leads out of it is refused.
func (a *assistant) below(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return []string{cli.Short(a.dir)}, nil
	}
	root, err := filepath.EvalSymlinks(a.dir)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(paths))
	for i, path := range paths {
		whole := path
		if !filepath.IsAbs(path) {
			whole = filepath.Join(a.dir, path)
		}
		if real, err := filepath.EvalSymlinks(whole); err == nil {
			if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
				return nil, a.notIn(path)
			}
		}
		out[i] = cli.Short(whole)
	}
	return out, nil
}
