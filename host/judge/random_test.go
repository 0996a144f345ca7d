//clock:outside the hosts of the tests are of the real world

package judge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

var seeds = flag.Int("seeds", 0, "judge the apps of so many further seeds, which no table keeps")

// kept are the seeds whose apps the table has; further ones begin behind them.
const kept = 8

// Apps that are made at random, with a custom handler and in JavaScript: routes, bindings,
// policies, what the functions answer, requests and messages. Of each of these: what the
// handler was given, its attempts, the answer or the message's end, and what was written.
func TestRandomApps(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/random.tsv", 4, 4)
	made := randomRows(1, kept)
	for i, r := range made {
		switch {
		case i < len(tab.rows) && slices.Equal(r.in, tab.rows[i].in):
			made[i] = tab.rows[i]
		case !*update:
			t.Fatalf("%s:%d: the seed makes %q: let the platform's host judge it, with -update", tab.path, i+2, r.in)
		}
	}
	tab.rows = made
	tab.judge(t, judgeVariable, tab.random(t, openOurs), func(t *testing.T) [][]string { return tab.random(t, openTheirs) })
	if *seeds > 0 {
		more := &golden{rows: randomRows(kept+1, *seeds)}
		ours, theirs := more.random(t, openOurs), more.random(t, openTheirs)
		for i, r := range more.rows {
			if diff := cmp.Diff(theirs[i], ours[i]); diff != "" {
				t.Errorf("%q (-platform +Redeliver):\n%s", r.in, diff)
			}
		}
	}
}

// randomRows are the rows of seeds, in each language.
func randomRows(first, n int) (rows []row) {
	for seed := first; seed < first+n; seed++ {
		for _, language := range []string{"custom", "node"} {
			for _, in := range newRandomApp(seed, language).rows {
				rows = append(rows, row{in: in})
			}
		}
	}
	return rows
}

// random runs the apps of the rows.
func (tab *golden) random(t *testing.T, start starter) [][]string {
	t.Helper()
	facts := make([][]string, len(tab.rows))
	for name, rows := range tab.byApp() {
		t.Run(name, func(t *testing.T) {
			if !installed(t, name) {
				t.Skip("there is no Node.js")
			}
			r := startRandom(t, start, name)
			for _, i := range rows {
				facts[i] = r.randomFacts(t, tab.rows[i].in)
			}
		})
		for _, i := range rows {
			if facts[i] == nil && !installed(t, name) {
				facts[i] = tab.rows[i].expected()
			}
		}
	}
	return facts
}

// startRandom starts a random app, with the blobs that its functions may read.
func startRandom(t *testing.T, start starter, name string) *run {
	t.Helper()
	app := randomAppOf(name)
	r := &run{id: newID(), sent: map[string]int{}}
	files := slices.Clone(app.files)
	if app.language == "node" {
		files = append(files, txtar.File{Name: "handler.js", Data: source(t, "handler.js")})
		for _, f := range app.files {
			if path.Base(f.Name) == "function.json" {
				files = append(files, txtar.File{Name: path.Dir(f.Name) + "/index.js", Data: source(t, "random.js")})
			}
		}
	}
	a := lay(t, files, r.id)
	r.given = a.given
	if app.language == "node" {
		a.env = []string{"JUDGE_GIVEN=" + a.given}
	}
	r.subject = start(t, a.dir, app.language, a.env)
	if r.state != "Running" {
		t.Fatalf("the host's state is %s", r.state)
	}
	r.inside(func() {
		c := r.blobs.Container("judge-" + r.id + "-in")
		_, err := c.Create(context.Background(), nil)
		for name, text := range randomBlobs {
			if err == nil {
				_, err = c.Blob(name).Put(context.Background(), strings.NewReader(text), nil)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	return r
}

// randomFacts does what a row of a random app says, and tells what became of it.
func (r *run) randomFacts(t *testing.T, in []string) []string {
	t.Helper()
	function, by, text := in[1], in[2], in[3]
	if state := r.function(function); state != "runs" {
		return []string{state, "", "", ""}
	}
	before := len(r.accounts(t))
	end := ""
	if method, target, http := strings.Cut(by, " "); http {
		target, headers, _ := strings.Cut(target, " & ")
		end = r.written(strings.Join(r.request(t, method, target, headers, text), " | "))
	} else {
		r.sent[function]++
		r.send(t, in)
		r.await(t, in)
		var poison string
		end, poison = r.poison(t, function)
		end = strings.TrimSuffix(end+" | "+poison, " | ")
	}
	first := ""
	var attempts []string
	for i, one := range r.accounts(t)[before:] {
		if i == 0 {
			text, _ := json.Marshal([]any{one.Function, one.Data, one.Metadata, one.Retry})
			first = r.written(string(text))
		}
		attempts = append(attempts, one.attempt())
	}
	return []string{first, strings.Join(attempts, " "), end, r.wrote(t, function)}
}

// accounts are all that the handler tells.
func (r *run) accounts(t *testing.T) (list []account) {
	t.Helper()
	text, err := os.ReadFile(r.given)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var one account
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, one)
	}
	return list
}

// wrote is what a function has written, which it takes away: messages, and blobs with
// their names and types.
func (r *run) wrote(t *testing.T, function string) string {
	t.Helper()
	var parts []string
	if messages := r.output(t, function); messages != "null" {
		parts = append(parts, messages)
	}
	r.inside(func() {
		c := r.blobs.Container(r.place(function) + "-out")
		list, err := c.Blobs(context.Background(), nil)
		if errors.Is(err, bindings.ErrNotFound) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		for _, b := range list.Blobs {
			parts = append(parts, r.written(readBlob(t, c, b.Name)))
		}
	})
	return strings.Join(parts, " & ")
}

// readBlob reads a blob and deletes it.
func readBlob(t *testing.T, c blob.Container, name string) string {
	t.Helper()
	content, err := c.Blob(name).Get(context.Background(), nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	text, err := io.ReadAll(content.Body)
	if err == nil {
		err = content.Body.Close()
	}
	if err == nil {
		err = c.Blob(name).Delete(context.Background(), nil)
	}
	if err != nil {
		t.Error(err)
	}
	return name + " = " + strings.ToValidUTF8(string(text), "\ufffd")
}
