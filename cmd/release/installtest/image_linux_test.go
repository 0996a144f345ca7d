package installtest

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The image: skopeo reads it, and its layer runs with nothing else in a file system, as its
// user. A client at another address puts and gets a message, and opens AMQP.
func TestImage(t *testing.T) {
	dir := dist(t)
	m := read(t, dir)
	layout := filepath.Join(dir, "oci")
	if skopeo, err := exec.LookPath("skopeo"); err != nil {
		t.Log("skopeo is missing: the layout was not read by it")
	} else {
		run(t, skopeo, "--insecure-policy", "inspect", "oci:"+layout+":"+m.Version)
		to := filepath.Join(t.TempDir(), "copy")
		run(t, skopeo, "--insecure-policy", "copy", "--all", "oci:"+layout+":"+m.Version, "oci:"+to+":"+m.Version)
	}
	if os.Getuid() != 0 {
		t.Skip("only root may run the layer in a file system of its own")
	}
	root := unpackLayer(t, dir, m)
	mount(t, root)
	lines := start(t, root)

	// 127.0.0.2 is an address at which nothing listens that listens at 127.0.0.1 alone.
	at := func(name string) string { return "127.0.0.2:" + lines[name] }
	key := lines["key"]
	put, err := queueRequest("PUT", at("queues"), "/devstoreaccount1/orders", "")
	expect(t, "make a queue", put, err, http.StatusCreated)
	put, err = queueRequest("POST", at("queues"), "/devstoreaccount1/orders/messages", "<QueueMessage><MessageText>aGVsbG8=</MessageText></QueueMessage>")
	expect(t, "put a message", put, err, http.StatusCreated)
	got, err := queueRequest("GET", at("queues"), "/devstoreaccount1/orders/messages", "")
	if body := expect(t, "get it", got, err, http.StatusOK); !strings.Contains(body, "aGVsbG8=") {
		t.Errorf("the message is %s", body)
	}

	conn, err := net.DialTimeout("tcp", at("servicebus"), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const sasl = "AMQP\x03\x01\x00\x00"
	answer := make([]byte, len(sasl))
	if _, err := io.WriteString(conn, sasl); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != sasl {
		t.Errorf("AMQP answered %q, %v", answer, err)
	}

	for _, row := range []struct {
		name   string
		header [2]string
		status int
	}{
		{"a page of elsewhere", [2]string{"Origin", "http://evil.example"}, 403},
		{"a name that was made to lead here", [2]string{"Host", "evil.example"}, 403},
		{"nobody's key", [2]string{"X-Functions-Key", "wrong"}, 401},
		{"no key", [2]string{"Host", "redeliver"}, 401},
		{"the key", [2]string{"X-Functions-Key", key}, 200},
	} {
		r, err := http.NewRequest("GET", "http://"+at("admin")+"/admin/redeliver/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set(row.header[0], row.header[1]); row.header[0] == "Host" {
			r.Host = row.header[1]
		}
		resp, err := http.DefaultClient.Do(r)
		expect(t, row.name, resp, err, row.status)
	}

	// A Config.json is where a compose file for the official emulator has mounted it.
	if text, err := inside(root, "ls", "servicebus").CombinedOutput(); err != nil || !strings.Contains(string(text), "parcels") {
		t.Errorf("the entities of the mounted file: %v, %s", err, text)
	}
	status := inside(root, "status")
	if text, err := status.CombinedOutput(); err != nil || !strings.HasPrefix(string(text), "Running  /app") {
		t.Errorf("the health check: %v, %s", err, text)
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if text, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
}

// unpackLayer makes the file system of the image of this platform.
func unpackLayer(t *testing.T, dir string, m released) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Files { // a layer is a compressed archive with the program in it
		if f.Kind != "oci" || !strings.Contains(f.Path, "/blobs/") {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		if list, err := exec.Command("tar", "-tzf", file).Output(); err != nil || !strings.Contains(string(list), "usr/bin/redeliver\n") {
			continue
		}
		run(t, "tar", "-xzpf", file, "--same-owner", "-C", root)
		if exec.Command(filepath.Join(root, "usr/bin/redeliver"), "version").Run() == nil {
			return root
		}
		root = t.TempDir()
	}
	t.Skip("the release has no image for this machine")
	return ""
}

// mount puts a file of the official emulator of Service Bus where that looks for it.
func mount(t *testing.T, root string) {
	t.Helper()
	dir := filepath.Join(root, "ServiceBus_Emulator", "ConfigFiles")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const config = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "parcels", "Properties": {"MaxDeliveryCount": 3}}], "Topics": []}], "Logging": {"Type": "Console"}}}`
	if err := os.WriteFile(filepath.Join(dir, "Config.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
}

// inside is a command of the image, as its user, with its environment and its folder.
func inside(root string, args ...string) *exec.Cmd {
	cmd := exec.Command("/usr/bin/redeliver", args...)
	cmd.Path, cmd.Err = "/usr/bin/redeliver", nil
	cmd.Dir, cmd.Env = "/app", []string{"PATH=/usr/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return cmd
}

// start starts the image's command with any free ports, and returns these by service, and the
// key that it prints.
func start(t *testing.T, root string) map[string]string {
	t.Helper()
	cmd := inside(root, "start", "--services-only", "--container", "--data", "/data", "--ports", "any")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	found := map[string]string{}
	line := regexp.MustCompile(`^  (\w+) .*:(\d+)[/;]`)
	key := regexp.MustCompile(`master key (\S+) \(shown this once\)`)
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		t.Log(scanner.Text())
		if m := line.FindStringSubmatch(scanner.Text()); m != nil && found[m[1]] == "" {
			found[m[1]] = m[2]
		}
		if m := key.FindStringSubmatch(scanner.Text()); m != nil {
			found["key"] = m[1]
		}
		if strings.HasPrefix(scanner.Text(), "services only") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found
		}
	}
	t.Fatal("the host ended before it was ready")
	return nil
}

// queueRequest is a request to the queues, signed with the public key of the development
// account.
func queueRequest(method, at, path, body string) (*http.Response, error) {
	const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(method, "http://"+at+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Format(http.TimeFormat)
	r.Header.Set("X-Ms-Date", now)
	r.Header.Set("X-Ms-Version", "2024-11-04")
	text := fmt.Sprintf("%s\n\n\n\nx-ms-date:%s\nx-ms-version:2024-11-04\n/devstoreaccount1%s", method, now, path)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	r.Header.Set("Authorization", "SharedKeyLite devstoreaccount1:"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return http.DefaultClient.Do(r)
}

// expect wants a status, and returns the body.
func expect(t *testing.T, what string, resp *http.Response, err error, status int) string {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Errorf("%s: %d %s, %v, want %d", what, resp.StatusCode, body, err, status)
	}
	return string(body)
}
