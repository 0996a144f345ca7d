package verbs

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/blobs"
)

// UploadBlob writes a blob.
var UploadBlob = Verb[blobs.Upload, blobs.BlobInfo]{ // read only
	Use: "upload CONTAINER/NAME FILE|-", Short: "Write a blob of the running host from a file",
	Long: `Upload makes a block blob of a file, or of the standard input for "-", in the
embedded storage of the running host. It replaces a blob of that name, and makes
the container when it does not exist. Blob triggers fire. NAME may have slashes.

Without --content-type the type is guessed as browsers do: from the extension of
NAME, else of FILE, else from the first bytes.`,
	Example: `  redeliver upload invoices/2026/07.json invoice.json
  date | redeliver upload notes/now.txt -`,
	First:    func(in *blobs.Upload, arg string) error { return blobPath(&in.Container, &in.Name, arg) },
	Complete: completeBlob[blobs.Upload],
	Opened:   func(in *blobs.Upload, from *input) { in.ContentType = cmp.Or(in.ContentType, guessType(in.Name, from)) },
	Text: func(in *blobs.Upload, made *blobs.BlobInfo) string {
		return cli.Textf("uploaded %s to blob %q (%s)\n", cli.Plural(int(made.Size), "byte"), in.Container+"/"+in.Name, made.ContentType)
	},
}

// DownloadBlob reads a blob.
var DownloadBlob = Verb[blobs.Download, ops.Stream]{ // read only
	Use: "download CONTAINER/NAME [FILE|-]", Short: "Read a blob of the running host into a file",
	Long: `Download writes a blob of the embedded storage of the running host to FILE, or
to the standard output for "-". FILE is replaced, and left as it was when the
download fails. Without FILE it goes to a file of this folder with the last part
of NAME, which must not exist yet.`,
	Example: `  redeliver download azure-webjobs-hosts/locks/shop/host -
  redeliver download invoices/2026/07.json`,
	First:    func(in *blobs.Download, arg string) error { return blobPath(&in.Container, &in.Name, arg) },
	Complete: completeBlob[blobs.Download],
	Brief:    true, Implied: impliedFile,
	What: func(in *blobs.Download) string { return fmt.Sprintf("blob %q", in.Container+"/"+in.Name) },
	Kept: func(to remote.Written) string {
		return cli.Textf("downloaded %s to %q (%s)\n", cli.Plural(int(to.Bytes), "byte"), to.File, to.ContentType)
	},
}

// completeBlob completes the first argument with the containers of the running host, and the
// second with files.
func completeBlob[In any](t *remote.Target, _ *In) remote.Completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, remote.OrFile
		}
		var names []string
		for _, c := range t.Glance(cmd.Context()).Containers {
			names = append(names, c.Name+"/")
		}
		return names, remote.NoMore | cobra.ShellCompDirectiveNoSpace
	}
}

// blobPath takes CONTAINER/NAME apart. The host judges the parts.
func blobPath(container, name *string, arg string) error {
	*container, *name, _ = strings.Cut(arg, "/")
	if *container == "." || *container == ".." {
		return cli.Misused(blob.ValidateContainerName(*container))
	}
	if *container == "" || *name == "" {
		return cli.Hinted(cli.Misused(fmt.Errorf("%q names no blob", arg)), "write CONTAINER/NAME, for instance invoices/2026/07.json")
	}
	return nil
}

// sniffed is how many bytes of a body a type is guessed from.
const sniffed = 512

// guessType guesses a content type from the names of blob and file, else from the first bytes.
func guessType(blob string, in *input) string {
	for _, name := range []string{blob, in.file} {
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
func impliedFile(in *blobs.Download) (string, error) {
	blob, name := in.Name, path.Base(in.Name)
	if strings.HasSuffix(blob, "/") || !filepath.IsLocal(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return "", cli.Hinted(cli.Misused(fmt.Errorf("no file can be named like blob %q", blob)), "name a FILE, or - for the standard output")
	}
	if _, err := os.Lstat(name); err == nil {
		return "", cli.Hinted(fmt.Errorf("file %q already exists", name), "name it as FILE to replace it")
	}
	return name, nil
}
