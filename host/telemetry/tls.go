package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"os"
)

// security is how a collector at an https endpoint is trusted, and what it is shown; nil
// for what the system trusts. The name is that of the file's setting that is at fault.
func (t *Target) security() (c *tls.Config, name string, err error) {
	if t.Authority == "" && t.Certificate == "" && t.Key == "" {
		return nil, "", nil
	}
	c = &tls.Config{MinVersion: tls.VersionTLS12}
	if t.Authority != "" {
		text, err := os.ReadFile(t.Authority)
		if err != nil {
			return nil, "CERTIFICATE", err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, "CERTIFICATE", os.ErrInvalid
		}
	}
	if t.Certificate != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, "CLIENT_CERTIFICATE", err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, "", nil
}
