// Package certificate provides the one key pair with which every listener
// of a host speaks TLS: read from the user's files, or self-made and kept,
// so that clients have to be told once whom to trust.
//
// Read [Load] and [SelfMade]. The package opens no port: it hands out a
// [tls.Config]. It is no certificate authority beyond its own one
// certificate, and does not put anything into a system's list of trusted
// ones.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Pair is a certificate with its private key. It never changes.
type Pair struct {
	// File holds the certificate in PEM: what a client has to trust when no
	// authority that it knows has signed it.
	File string

	// Made says that SelfMade has made it just now.
	Made bool

	pair tls.Certificate
}

// Config returns a configuration for servers: this pair, TLS 1.2 or newer.
func (p *Pair) Config() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{p.pair}, MinVersion: tls.VersionTLS12}
}

// Load reads a certificate (with what leads to its authority, if need be) and its
// key from files in PEM.
func Load(certFile, keyFile string) (*Pair, error) {
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("key of the certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("certificate %q with key %q: %w", certFile, keyFile, err)
	}
	return &Pair{File: certFile, pair: pair}, nil
}

// The life of a self-made certificate: what clients on macOS accept at most
// (Apple: Requirements for trusted certificates) with some days to spare, and how
// long before its end another one is made.
const (
	life    = 800 * 24 * time.Hour
	renewal = 7 * 24 * time.Hour
)

// Names that a self-made certificate is good for: this machine, and accounts in
// the host's name (http://devstoreaccount1.blob.localhost).
func names() []string { return []string{"localhost", "*.blob.localhost", "*.queue.localhost"} }

func addresses() []net.IP { return []net.IP{net.IPv4(127, 0, 0, 1).To4(), net.IPv6loopback} }

// SelfMade returns the pair that is kept in dir, as cert.pem and key.pem. It
// makes one for the names of this machine when there is none, or when that
// one has expired. The key lets its owner pass for this machine to clients
// that trust the certificate; only the user may read the file.
func SelfMade(dir string, now time.Time) (*Pair, error) {
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	kept, err := Load(certFile, keyFile)
	switch {
	case err == nil && usable(kept.pair.Leaf, now):
		return kept, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	certPEM, keyPEM, err := selfSign(now)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// The key first: a certificate without its key counts as none.
	if err := replace(keyFile, keyPEM, 0o600); err != nil {
		return nil, err
	}
	if err := replace(certFile, certPEM, 0o644); err != nil {
		return nil, err
	}
	made, err := Load(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	made.Made = true
	return made, nil
}

// usable reports whether a kept certificate is what SelfMade would make.
func usable(c *x509.Certificate, now time.Time) bool {
	return !now.Before(c.NotBefore) && now.Before(c.NotAfter.Add(-renewal)) &&
		slices.Equal(c.DNSNames, names()) &&
		slices.EqualFunc(c.IPAddresses, addresses(), net.IP.Equal)
}

// selfSign makes a certificate that is its own authority.
func selfSign(now time.Time) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"Redeliver"}, CommonName: "localhost"},
		NotBefore:    now.Add(-time.Hour), NotAfter: now.Add(life),
		DNSNames: names(), IPAddresses: addresses(),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		// Clients take it into their list of authorities, some of them only as one.
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

// replace writes a file in one step, and sets its mode.
func replace(name string, text []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
