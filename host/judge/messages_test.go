//clock:outside the hosts of the tests are of the real world

package judge_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
)

// Messages, blobs, ticks and calls by hand: what the handler was given at first, its
// attempts, where the message is then, and its text in the poison queue, or the messages
// that a function called Out... has written. A message is
// delivered twice at most, and so is a blob. In the apps "-retry" all functions have the
// policy of host.json.
func TestMessages(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/messages.tsv", 4, 4)
	all := func(t *testing.T, start starter) [][]string {
		facts := make([][]string, len(tab.rows))
		for app, rows := range tab.byApp() {
			t.Run(app, func(t *testing.T) {
				if !installed(t, app) {
					t.Skip("there is no .NET SDK, no Node.js, or its package is not installed; run make interop")
				}
				newRun(t, start, app).all(t, tab, rows, facts)
			})
		}
		for i, r := range tab.rows {
			switch {
			case facts[i] != nil:
			case !installed(t, r.in[0]):
				facts[i] = r.expected()
			default: // the app could not be started
				facts[i] = make([]string, 4)
			}
		}
		return facts
	}
	tab.judge(t, judgeVariable, all(t, openOurs), func(t *testing.T) [][]string { return all(t, openTheirs) })
}

// packages is where make interop installs the platform's package for the newer model of
// JavaScript.
const packages = "../../.interop/node_modules"

// installed says whether what the language of an app needs is at hand.
func installed(t *testing.T, app string) bool {
	t.Helper()
	switch {
	case strings.HasPrefix(app, "dotnet"):
		return hasDotnet(t)
	case !strings.HasPrefix(app, "node"):
		return true
	}
	_, err := exec.LookPath("node")
	if err == nil && app == "node4" {
		_, err = os.Stat(filepath.Join(packages, "@azure/functions"))
	}
	if err != nil && os.Getenv("REDELIVER_INTEROP") == "required" {
		t.Fatalf("%v, and REDELIVER_INTEROP is required", err)
	}
	return err == nil
}

// byApp are the rows of each app, by their first column.
func (tab *golden) byApp() map[string][]int {
	apps := map[string][]int{}
	for i, r := range tab.rows {
		apps[r.in[0]] = append(apps[r.in[0]], i)
	}
	return apps
}

// A run is one app under one host.
type run struct {
	*subject
	id    string            // in the names of its queues and containers
	host  string            // the host's ID, once it was asked for
	given string            // what the handler tells
	sent  map[string]int    // by function: what it was given to do
	dead  map[string]string // the poison messages of blobs, by their paths
}

func newRun(t *testing.T, start starter, name string) *run {
	t.Helper()
	r := &run{id: newID(), sent: map[string]int{}}
	runtime, retry, _ := strings.Cut(name, "-")
	policy := policy(retry)
	if runtime == "dotnet" {
		a := layDotnet(t, "plain", r.id, policy)
		r.given, r.subject = a.given, start(t, a.dir, "dotnet-isolated", a.env)
		return r
	}
	model4 := runtime == "node4"
	var files []txtar.File
	for _, f := range archive(t, "messages.txtar") {
		switch {
		case f.Name == "host.json":
			f.Data = []byte(policy(string(f.Data)))
		case model4:
			f.Name = "functions/" + f.Name
		case runtime == "node":
			files = append(files, txtar.File{Name: path.Dir(f.Name) + "/index.js", Data: source(t, "classic.js")})
		}
		files = append(files, f)
	}
	if runtime != "custom" {
		files = append(files, txtar.File{Name: "handler.js", Data: source(t, "handler.js")})
	}
	if model4 {
		runtime = "node"
		files = append(files, txtar.File{Name: "model4.js", Data: source(t, "model4.js")}, txtar.File{Name: "package.json", Data: []byte(`{"main":"model4.js"}`)})
	}
	a := lay(t, files, r.id)
	if model4 {
		link(t, a.dir)
	}
	r.given = a.given
	if runtime != "custom" {
		a.env = []string{"JUDGE_GIVEN=" + a.given}
	}
	r.subject = start(t, a.dir, runtime, a.env)
	return r
}

// policy gives a host.json the policy of apps "-retry".
func policy(retry string) func(hostJSON string) string {
	return func(hostJSON string) string {
		if retry == "" {
			return hostJSON
		}
		return strings.Replace(hostJSON, "{", `{"retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"00:00:00.1"},`, 1)
	}
}

// newID is a word in the names of queues and containers, so that two runs on one storage
// do not meet.
func newID() string { return strings.ToLower(rand.Text()[:8]) }

func source(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// link gives an app the platform's package.
func link(t *testing.T, dir string) {
	t.Helper()
	from, err := filepath.Abs(packages)
	if err == nil {
		err = os.Symlink(from, filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// all does what each of the rows says. Blobs come first, since the platform's host looks
// for them every ten seconds; they and what runs at the start are looked at last.
func (r *run) all(t *testing.T, tab *golden, rows []int, facts [][]string) {
	t.Helper()
	if r.state != "Running" {
		t.Fatalf("the host's state is %s", r.state)
	}
	var later []int
	for _, i := range rows {
		switch in := tab.rows[i].in; {
		case strings.HasPrefix(in[2], "blob "):
			r.send(t, in)
			fallthrough
		case in[2] == "start":
			r.sent[in[1]]++
			later = append(later, i)
		}
	}
	for _, i := range rows {
		in := tab.rows[i].in
		if slices.Contains(later, i) {
			continue
		}
		r.sent[in[1]]++
		before := len(r.told(t, in))
		r.send(t, in)
		r.await(t, in)
		facts[i] = r.facts(t, in, before)
	}
	for _, i := range later {
		in := tab.rows[i].in
		if r.finished != nil {
			r.finished(t, in[1], r.sent[in[1]])
		} else if i == later[0] {
			r.quiet(t, 12*time.Second)
		}
		facts[i] = r.facts(t, in, 0)
	}
}

// place is the queue or container of a function.
func (r *run) place(function string) string { return "judge-" + r.id + "-" + strings.ToLower(function) }

// send makes the message, the blob or the call of a row.
func (r *run) send(t *testing.T, in []string) {
	t.Helper()
	function, by, message := in[1], in[2], in[3]
	var err error
	kind, name, _ := strings.Cut(by, " ")
	switch kind {
	case "queue":
		r.inside(func() {
			_, err = queue.PutOrCreate(context.Background(), r.queues.Queue(r.place(function)), queue.Base64.Encode([]byte(message)), nil)
		})
	case "text":
		r.inside(func() {
			_, err = queue.PutOrCreate(context.Background(), r.queues.Queue(r.place(function)), message, nil)
		})
	case "blob":
		r.inside(func() {
			c := r.blobs.Container(r.place(function))
			if _, err = c.Create(context.Background(), nil); err == nil || errors.Is(err, bindings.ErrAlreadyExists) {
				_, err = c.Blob(name).Put(context.Background(), strings.NewReader(message), nil)
			}
		})
	case "admin":
		input, _ := json.Marshal(map[string]string{"input": message}) // texts
		if answer := r.request(t, "POST", "/admin/functions/"+function, "Content-Type: application/json & x-functions-key: {key}", string(input)); answer[0] != "202" {
			t.Errorf("%q: the call by hand is answered %q", in, answer)
		}
	case "http":
		r.request(t, "GET", "/api/"+function, "", "")
	default:
		t.Fatalf("%q is nothing to do", by)
	}
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
}

// await waits until the host has done with what a row sends.
func (r *run) await(t *testing.T, in []string) {
	t.Helper()
	switch function, by := in[1], in[2]; {
	case r.finished != nil:
		r.finished(t, function, r.sent[function])
	case by == "admin":
		r.quiet(t, 2*time.Second)
	case by != "http": // which has its answer
		r.wait(t, function, r.place(function))
	}
}

// quiet waits until nothing was told, and no blob has come into its poison queue, for a
// while.
func (r *run) quiet(t *testing.T, while time.Duration) {
	t.Helper()
	var size int64
	dead := 0
	for since := time.Now(); time.Since(since) < while; time.Sleep(200 * time.Millisecond) {
		if info, err := os.Stat(r.given); err == nil && info.Size() != size {
			size, since = info.Size(), time.Now()
		}
		if n, err := r.queues.Queue(deadBlobs).Count(t.Context()); err == nil && n != dead {
			dead, since = n, time.Now()
		}
	}
}

// deadBlobs is the poison queue of all blob triggers.
const deadBlobs = "webjobs-blobtrigger-poison"

// An account is one attempt, as the handler tells it.
type account struct {
	Function       string
	Data, Metadata any
	Retry          any
}

// told is what the handler tells of the function of a row, and of its blob.
func (r *run) told(t *testing.T, in []string) (list []account) {
	t.Helper()
	text, err := os.ReadFile(r.given)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	_, blob, _ := strings.Cut(in[2], " ")
	for line := range strings.Lines(string(text)) {
		var one account
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if one.Function == in[1] && strings.Contains(line, blob) {
			list = append(list, one)
		}
	}
	return list
}

// facts are what became of a row.
func (r *run) facts(t *testing.T, in []string, before int) []string {
	t.Helper()
	list := r.told(t, in)[before:]
	first := ""
	var attempts []string
	for i, one := range list {
		if i == 0 {
			text, _ := json.Marshal([]any{one.Data, one.Metadata, one.Retry})
			first = r.written(string(text))
		}
		attempts = append(attempts, one.attempt())
	}
	end, poison := "", ""
	switch kind, name, _ := strings.Cut(in[2], " "); kind {
	case "queue", "text":
		end, poison = r.poison(t, in[1])
		if strings.Contains(in[1], "Out") && end == "deleted" {
			poison = r.output(t, in[1])
		}
	case "blob":
		if poison = r.deadBlob(t, r.place(in[1])+"/"+name); poison != "" {
			end = "poison"
		}
	}
	return []string{first, strings.Join(attempts, " "), end, poison}
}

// attempt is the number of the delivery, where there is one, and of the retry.
func (one account) attempt() string {
	delivery, retry := "", ""
	if metadata, ok := one.Metadata.(map[string]any); ok {
		for key, value := range metadata {
			if strings.EqualFold(key, "DequeueCount") {
				delivery = fmt.Sprint(value)
			}
		}
	}
	if context, ok := one.Retry.(map[string]any); ok && context["Count"] != nil {
		retry = fmt.Sprint(context["Count"], "/", context["Max"])
	}
	switch {
	case delivery != "" && retry != "":
		return delivery + ":" + retry
	case delivery+retry == "":
		return "."
	}
	return delivery + retry
}

// What differs between two runs, or is not the platform's but Azurite's.
var (
	own      = regexp.MustCompile(`(?i)("(?:PopReceipt|InvocationId|AccessTierChangedOn)[\\":]+)([^\\",}]+)`) // read only
	versions = regexp.MustCompile(`0x[0-9A-F]{8,}`)                                                           // of blobs; read only
)

// Times that a host or a service has made.
var clocks = regexp.MustCompile(`(?i)(TimerTrigger[\\":]+)\d\d/\d\d/\d{4} \d\d:\d\d:\d\d`)                                                                                      // read only
var made = regexp.MustCompile(`(?i)((?:UtcNow|InsertionTime|ExpirationTime|NextVisibleTime|LastModified|CreatedOn|"Next|"Last|LastUpdated)[\\":]+)(\d[-\d]+T[\d:]+(?:\.\d+)?)`) // read only

// written is a text of a run in a table.
func (r *run) written(text string) string {
	text = strings.NewReplacer(r.id, "{run}", r.key, "{key}").Replace(text)
	text = guids.ReplaceAllString(addresses.ReplaceAllString(text, "{host}"), "{guid}")
	text = made.ReplaceAllStringFunc(text, func(found string) string {
		m := made.FindStringSubmatch(found)
		if strings.HasPrefix(m[2], "0001") {
			return found
		}
		whole, fraction, _ := strings.Cut(m[2], ".")
		if len(fraction) > 7 { // .NET has no finer ones
			whole += ".nanoseconds"
		}
		return m[1] + digits.ReplaceAllString(whole, "d")
	})
	text = clocks.ReplaceAllString(versions.ReplaceAllString(text, "{own}"), "${1}dd/dd/dddd dd:dd:dd")
	return own.ReplaceAllString(text, "$1{own}")
}

// poison is where the message of a function is, and its text in the poison queue, which it
// leaves empty.
func (r *run) poison(t *testing.T, function string) (end, text string) {
	t.Helper()
	if end = r.end(t, r.place(function)); end != "poison" {
		return end, ""
	}
	for _, m := range r.take(t, r.place(function)+"-poison", "") {
		text = r.written(m)
	}
	return end, text
}

// output are the messages that a function has written, which it takes away.
func (r *run) output(t *testing.T, function string) string {
	t.Helper()
	texts := r.take(t, r.place(function)+"-out", "")
	slices.Sort(texts) // those of one call are written at the same time
	list, _ := json.Marshal(texts)
	return r.written(string(list))
}

// deadBlob is the text of a blob's message in the poison queue of blobs.
func (r *run) deadBlob(t *testing.T, path string) string {
	t.Helper()
	if r.dead == nil {
		r.dead = map[string]string{}
		for _, m := range r.take(t, deadBlobs, r.id) {
			var control struct{ ContainerName, BlobName string }
			if err := json.Unmarshal([]byte(m), &control); err != nil {
				t.Fatal(err)
			}
			r.dead[control.ContainerName+"/"+control.BlobName] = r.written(m)
		}
	}
	return r.dead[path]
}

// take takes the messages that contain a text out of a queue.
func (r *run) take(t *testing.T, name, containing string) (texts []string) {
	t.Helper()
	r.inside(func() {
		q := r.queues.Queue(name)
		for {
			list, err := q.Receive(context.Background(), queue.MaxReceive, 5*time.Second)
			if err != nil && !errors.Is(err, bindings.ErrNotFound) {
				t.Error(err)
			}
			if len(list) == 0 {
				return
			}
			for _, m := range list {
				text := m.Text
				if plain, err := queue.Base64.Decode(text); err == nil {
					text = string(plain)
				}
				if !strings.Contains(text, containing) {
					continue // of another run
				}
				texts = append(texts, text)
				if err := q.Delete(context.Background(), m.ID, m.PopReceipt); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return texts
}
