package certificate_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/certificate"
)

var wall = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// A client that trusts the file, and nothing else, accepts the server under the
// names of this machine.
func TestSelfMadeIsTrusted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	p, err := certificate.SelfMade(dir, wall)
	if err != nil || !p.Made {
		t.Fatalf("SelfMade = %+v, %v", p, err)
	}
	text, err := os.ReadFile(p.File)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatal("the file holds no certificate")
	}
	leaf := p.Config().Certificates[0].Leaf
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "devstoreaccount1.blob.localhost", "devstoreaccount1.queue.localhost"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: wall}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"example.com", "10.0.0.1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: wall}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if p.Config().MinVersion < tls.VersionTLS12 {
		t.Error("old versions of TLS are spoken")
	}
	info, err := os.Stat(filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %v", info.Mode())
	}
}

// It is made once, and again when its time is nearly over or its key is lost.
func TestSelfMadeIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serial := func(now time.Time) (string, bool) {
		t.Helper()
		p, err := certificate.SelfMade(dir, now)
		if err != nil {
			t.Fatal(err)
		}
		return p.Config().Certificates[0].Leaf.SerialNumber.String(), p.Made
	}
	first, _ := serial(wall)
	if again, made := serial(wall.AddDate(2, 0, 0)); again != first || made {
		t.Error("a good certificate was replaced")
	}
	late, made := serial(wall.AddDate(2, 0, 69))
	if late == first || !made {
		t.Error("a certificate at its end was kept")
	}
	if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	if again, made := serial(wall.AddDate(2, 0, 69)); again == late || !made {
		t.Error("a certificate without its key was kept")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if _, err := certificate.SelfMade(dir, wall); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := filepath.Join(one, "cert.pem"), filepath.Join(one, "key.pem")
	if p, err := certificate.Load(cert, key); err != nil || p.File != cert || p.Made {
		t.Errorf("Load = %+v, %v", p, err)
	}
	for name, files := range map[string][2]string{
		"no certificate":   {filepath.Join(one, "none"), key},
		"no key":           {cert, filepath.Join(one, "none")},
		"the other's key":  {cert, filepath.Join(two, "key.pem")},
		"key for both":     {key, key},
		"certificate only": {cert, cert},
	} {
		if _, err := certificate.Load(files[0], files[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// A kept pair that is damaged is an error: it may be what clients trust.
	if err := os.WriteFile(cert, []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.SelfMade(one, wall); err == nil {
		t.Error("a damaged certificate was replaced")
	}
}
