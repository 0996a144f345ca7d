package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/certificate"
)

// tlsFlags choose the one certificate of every port that speaks TLS.
type tlsFlags struct {
	on        bool // storage speaks HTTPS
	cert, key string
}

func addTLS(cmd *cobra.Command, f *tlsFlags) {
	flags := cmd.Flags()
	flags.BoolVar(&f.on, "tls", false, "serve queues and blobs over HTTPS, and Service Bus over TLS too; without --tls-cert with a certificate of its own")
	flags.StringVar(&f.cert, "tls-cert", "", "file with the certificate in PEM; implies --tls")
	flags.StringVar(&f.key, "tls-key", "", "file with its key in PEM")
}

func (f *tlsFlags) check() error {
	if (f.cert == "") != (f.key == "") {
		return cli.Misused(errors.New("--tls-cert and --tls-key belong together"))
	}
	return nil
}

// wanted reports whether the storage speaks HTTPS: asked for, or a
// certificate is given, as with Azurite.
func (f *tlsFlags) wanted() bool { return f.on || f.cert != "" }

// certificate is the pair for every port that speaks TLS: the given one, else a
// self-made one, which is kept below the app. It is read once.
func (s *session) certificate() (*certificate.Pair, error) {
	if s.pair != nil {
		return s.pair, nil
	}
	var err error
	if f := &s.flags.tls; f.cert != "" {
		if s.pair, err = certificate.Load(f.cert, f.key); err != nil {
			return nil, cli.Hinted(err, "without --tls-cert and --tls-key, --tls makes a certificate")
		}
		return s.pair, nil
	}
	dir := filepath.Join(app.StateFolder(s.dir), "tls")
	if s.pair, err = certificate.SelfMade(dir, time.Now()); err != nil {
		return nil, cli.Hinted(err, fmt.Sprintf("remove %q to have a new certificate made", dir))
	}
	return s.pair, nil
}
