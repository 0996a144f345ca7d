//clock:outside the sockets of the tests are of the real world

package judge_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redeliver/redeliver/host/web"
)

// An app of testdata, laid into a folder of its own, and where its handler tells what it
// was given.
type laid struct {
	dir, given string
	env        []string
}

// lay writes the files of an archive, with every "{run}" in them replaced, so that two
// runs on one storage do not meet.
func lay(t *testing.T, files []txtar.File, run string) *laid {
	t.Helper()
	base := t.TempDir()
	a := &laid{dir: filepath.Join(base, "app"), given: filepath.Join(base, "given")}
	for _, f := range files {
		path := filepath.Join(a.dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(f.Data), "{run}", run)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const description = "AzureFunctionsJobHost__customHandler__description__"
	a.env = []string{description + "defaultExecutablePath=" + program, description + "arguments__0=" + handlerRole, description + "arguments__1=" + a.given}
	return a
}

// archive reads an app of testdata.
func archive(t *testing.T, name string) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return a.Files
}

// Requests to functions and to the host itself, and whole answers; a function answers what
// it was given, or what the request asks it to answer.
func TestRequests(t *testing.T) { requests(t, "http") }

// Requests to what is below /admin.
func TestAdminRequests(t *testing.T) { requests(t, "admin") }

// requests makes the requests of a table to the app of that name.
func requests(t *testing.T, name string) {
	t.Helper()
	t.Parallel()
	tab := readTable(t, "testdata/"+name+".tsv", 4, 3)
	all := func(t *testing.T, start starter) [][]string {
		app := lay(t, archive(t, name+".txtar"), "own")
		return exchange(t, start(t, app.dir, "custom", app.env), tab)
	}
	tab.judge(t, judgeVariable, all(t, openOurs), func(t *testing.T) [][]string { return all(t, openTheirs) })
}

// exchange makes the request of each row.
func exchange(t *testing.T, s *subject, tab *golden) (answers [][]string) {
	t.Helper()
	for _, r := range tab.rows {
		answers = append(answers, s.request(t, r.in[0], r.in[1], r.in[2], r.in[3]))
	}
	return answers
}

// request sends a request as it is written, which no library changes, and returns status,
// headers and body. Headers stand in one text, with " & " between them; "{key}" is the
// master key.
func (s *subject) request(t *testing.T, method, path, headers, text string) []string {
	t.Helper()
	address := strings.TrimPrefix(strings.TrimPrefix(s.url, "http://"), "https://")
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(s.patience))
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method, strings.ReplaceAll(path, "{key}", s.key), address)
	if headers != "" {
		for h := range strings.SplitSeq(headers, " & ") {
			b.WriteString(strings.ReplaceAll(h, "{key}", s.key) + "\r\n")
		}
	}
	if text != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(text))
	}
	if _, err := io.WriteString(c, b.String()+"\r\n"+text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return []string{statusText(0), "", ""}
	}
	defer func() { _ = resp.Body.Close() }()
	var lines []string
	for name, values := range resp.Header {
		if !slices.Contains(connectionHeaders, name) {
			for _, v := range values {
				lines = append(lines, strings.ToLower(name)+": "+v)
			}
		}
	}
	slices.Sort(lines)
	answer := []string{statusText(resp.StatusCode), shape(strings.Join(lines, " & ")), shape(strings.ToValidUTF8(body(resp), "\ufffd"))}
	for i, text := range answer {
		answer[i] = strings.ReplaceAll(text, s.key, "{key}")
	}
	return answer
}

// statusText is a status in a table; 0 is none.
func statusText(status int) string {
	if status == 0 {
		return "no answer"
	}
	return strconv.Itoa(status)
}

// silence is how long nothing must come where no answer is expected: every answer that
// comes takes less by far.
const silence = 8 * time.Second

// connectionHeaders belong to the connection and to the server, or name Redeliver.
var connectionHeaders = []string{"Date", "Server", "Content-Length", "Connection", web.VersionHeader} // read only

func body(resp *http.Response) string {
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// What differs between two runs has a word instead; times that the host has made, their
// form.
var (
	addresses = regexp.MustCompile(`(?:localhost|127\.0\.0\.1):\d+`)                                                                                     // read only
	guids     = regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`)                                                               // read only
	times     = regexp.MustCompile(`((?:UtcNow|InsertionTime|ExpirationTime|NextVisibleTime|LastModified|CreatedOn)[\\":]+)(\d[-\d]+T[\d:]+(?:\.\d+)?)`) // read only
	secrets   = regexp.MustCompile(`((?:PopReceipt|"Id|ETag|"processUptime|"hostInstanceId|"instanceId|"version|"versionDetails)[\\":]+)([^\\",}]+)`)    // read only
)

func shape(text string) string {
	text = guids.ReplaceAllString(addresses.ReplaceAllString(text, "{host}"), "{guid}")
	text = times.ReplaceAllStringFunc(text, func(found string) string {
		m := times.FindStringSubmatch(found)
		seconds, fraction, _ := strings.Cut(m[2], ".")
		if len(fraction) > 7 { // .NET has no finer ones
			seconds += ".nanoseconds"
		}
		return m[1] + digits.ReplaceAllString(seconds, "d")
	})
	text = keys.ReplaceAllString(text, "{own}")
	return secrets.ReplaceAllString(hostID.ReplaceAllString(folders.ReplaceAllString(text, "$1"), `"id":"{own}","state"`), "$1{own}")
}

var (
	keys    = regexp.MustCompile(`[\w-]{40,}AzFuAAAAAA==`)                    // read only
	hostID  = regexp.MustCompile(`"id":"[^"]+","state"`)                      // read only
	folders = regexp.MustCompile(`(/admin/vfs/)[^"]*/(?:app|FunctionsData)/`) // of an app and its data; read only
)

var digits = regexp.MustCompile(`\d`) // read only
