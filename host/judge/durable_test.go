//clock:outside the platform's host is of the real world, and waits in it

package judge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// nodePackages is where make interop installs the packages of Node.js.
const nodePackages = "../../.interop/node_modules"

// durableHost keeps the platform's host from looking for work only now and then.
const durableHost = `{"version":"2.0","extensions":{"durableTask":{"hubName":"Judge{run}","storageProvider":{"partitionCount":1,"maxQueuePollingInterval":"00:00:00.100"}}}}`

// Stories of orchestrations in JavaScript: what the management API answers, how each
// instance ends, and its history without times and identities. A story is a run of rows with
// the same name; its steps are in the order of the table:
//
//	start NAME ID [JSON]    POST orchestrators/NAME/ID
//	is ID STATUS            waits for a status; "end" is any that is final
//	shows ID JSON           waits for a custom status
//	history ID              the history; "sorted ID" where its order is by chance
//	sleep SECONDS           lets time pass
//	client OP JSON          asks the package's client in the app
//	GET PATH, POST PATH [BODY], DELETE PATH
//	                        a request to the management API; "*POST" waits for its answer,
//	                        so that time may pass, and "| name: value" before the body is a
//	                        header
func TestDurable(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/durable.tsv", 2, 1)
	all := func(t *testing.T, open starter, together int, of func(story string) bool, env ...string) [][]string {
		a := layDurable(t)
		s := open(t, a.dir, "node", append(env, "AzureWebJobs.OffActivity.Disabled=true", "AzureWebJobs.OffOrchestrator.Disabled=true", standsStill))
		s.patience = time.Minute
		return tab.tell(t, s, together, of)
	}
	calls := func(story string) bool { return strings.HasPrefix(story, "http") }
	ours := all(t, openOurs, 1, func(story string) bool { return !calls(story) })
	for i, answer := range all(t, openOurs, 1, calls, callsItself) {
		if answer != nil {
			ours[i] = answer
		}
	}
	tab.judge(t, judgeVariable, ours, func(t *testing.T) [][]string {
		return all(t, openTheirs, 6, func(string) bool { return true })
	})
}

// layDurable lays the app of the stories into a folder.
func layDurable(t *testing.T) *laid {
	t.Helper()
	from, err := filepath.Abs(nodePackages)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(from, "durable-functions")); err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	a := lay(t, []txtar.File{
		{Name: "host.json", Data: []byte(durableHost)},
		{Name: "package.json", Data: []byte(`{"main":"durable.js"}`)},
		{Name: "durable.js", Data: source(t, "durable.js")},
	}, newID())
	a.env = nil
	if err := os.Symlink(from, filepath.Join(a.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return a
}

// tell tells stories of a table, so many together, and returns what came of each step.
func (tab *golden) tell(t *testing.T, s *subject, together int, of func(story string) bool) [][]string {
	t.Helper()
	answers := make([][]string, len(tab.rows))
	places := make(chan struct{}, together)
	var told sync.WaitGroup
	for first := 0; first < len(tab.rows); {
		last := first
		for last < len(tab.rows) && tab.rows[last].in[0] == tab.rows[first].in[0] {
			last++
		}
		if !of(tab.rows[first].in[0]) {
			first = last
			continue
		}
		places <- struct{}{}
		told.Add(1)
		go func(rows []row, answers [][]string) {
			defer func() { <-places; told.Done() }()
			for i, r := range rows {
				answers[i] = []string{s.step(t, r.in[1])}
			}
		}(tab.rows[first:last], answers[first:last])
		first = last
	}
	told.Wait()
	return answers
}

const hook = "/runtime/webhooks/durabletask/"

// step makes one step of a story.
func (s *subject) step(t *testing.T, text string) string {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "start":
		name, rest, _ := strings.Cut(rest, " ")
		id, input, _ := strings.Cut(rest, " ")
		return s.asked(t, "POST", hook+"orchestrators/"+name+"/"+id, "", input)[0]
	case "is", "shows":
		id, want, _ := strings.Cut(rest, " ")
		return s.await(t, id, func(i *instanceJSON) bool {
			if word == "shows" {
				return string(i.CustomStatus) == want
			}
			return i.RuntimeStatus == want || want == "end" && slices.Contains([]string{"Completed", "Failed", "Terminated"}, i.RuntimeStatus)
		})
	case "history", "sorted":
		return s.history(t, rest, word == "sorted")
	case "sleep":
		seconds, err := strconv.Atoi(rest)
		if err != nil {
			t.Error(err)
		}
		s.pass(time.Duration(seconds) * time.Second)
		return ""
	case "client":
		op, body, _ := strings.Cut(rest, " ")
		return strings.Join(s.answer(t, "POST", "/api/client/"+op, "content-type: application/json", body), " ")
	}
	path, text, _ := strings.Cut(rest, " ")
	headers := ""
	if h, found := strings.CutPrefix(text, "| "); found {
		headers, text, _ = strings.Cut(h, " | ")
	} else if text != "" {
		headers = "Content-Type: application/json"
	}
	if method, waits := strings.CutPrefix(word, "*"); waits {
		return strings.Join(s.answer(t, method, hook+path, headers, text), " ")
	}
	return strings.Join(s.asked(t, word, hook+path, headers, text), " ")
}

// asked makes a request with the master key.
func (s *subject) asked(t *testing.T, method, path, headers, text string) []string {
	t.Helper()
	if headers != "" {
		headers += " & "
	}
	if text == "" && method == "POST" { // without it the platform takes "" for the input
		headers += "Content-Length: 0 & "
	}
	got := s.request(t, method, path, headers+"x-functions-key: {key}", strings.ReplaceAll(text, "{url}", s.url))
	got[1], got[2] = plain(got[1]), plain(ordered(got[2]))
	return got
}

// ordered is a JSON text with its members in order, which is free; other texts stay.
func ordered(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return text
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return text
	}
	return strings.TrimSpace(b.String())
}

// answer is asked, and time passes until the answer is there.
func (s *subject) answer(t *testing.T, method, path, headers, text string) (got []string) {
	s.passing(func() { got = s.asked(t, method, path, headers, text) })
	return got
}

type instanceJSON struct {
	RuntimeStatus                       string
	CustomStatus, Output, HistoryEvents json.RawMessage
}

// await lets time pass until an instance is as it should be, and says how it stands.
func (s *subject) await(t *testing.T, id string, done func(*instanceJSON) bool) string {
	t.Helper()
	var i instanceJSON
	s.settle()
	for range 150 {
		i = instanceJSON{}
		if text := s.get(hook + "instances/" + id + "?code=" + s.key); text != "" && json.Unmarshal([]byte(text), &i) == nil && done(&i) {
			return plain(fmt.Sprintf("%s %s %s", i.RuntimeStatus, ordered(string(i.Output)), i.CustomStatus))
		}
		s.lapse()
	}
	return plain("in vain: " + s.get(hook+"instances/"+id+"?code="+s.key))
}

// history is that of an instance, an event after the other.
func (s *subject) history(t *testing.T, id string, sorted bool) string {
	t.Helper()
	var i instanceJSON
	var events []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.get(hook+"instances/"+id+"?showHistory=true&showHistoryOutput=true&code="+s.key)), &i); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(i.HistoryEvents, &events); err != nil {
		return err.Error()
	}
	var lines []string
	for _, e := range events {
		var kind string
		_ = json.Unmarshal(e["EventType"], &kind)
		delete(e, "EventType")
		delete(e, "Timestamp")
		for name, v := range e {
			if string(v) == "null" { // told apart by the requests of the API
				delete(e, name)
			}
		}
		rest, _ := json.Marshal(e)
		lines = append(lines, plain(kind+" "+ordered(string(rest))))
	}
	if sorted {
		slices.Sort(lines)
	}
	return strings.Join(lines, " ; ")
}

var (
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)                                       // read only
	hexes   = regexp.MustCompile(`\b[0-9a-f]{32}\b`)                                                                                  // read only
	stacks  = regexp.MustCompile(`("[sS]tackTrace"|"Details"):(?:"(?:[^"\\]|\\.)*"|null)|(\\"StackTrace\\"):(?:\\".*?[^\\]\\"|null)`) // of hosts differ; read only
	nested  = regexp.MustCompile(`\{\\+"\$type\\+":\\+"System\.(?:[^"\\]|\\.)*(?:"…")?|(, StackTrace: )(?:[^"\\]|\\.)*`)              // exceptions inside texts, likewise; read only
	worker  = regexp.MustCompile(`(?:\\n|\n) *at (?:[^"\\\n]|\\[^n])*`)                                                               // stacks of workers have paths; read only
	hubs    = regexp.MustCompile(`(taskHub=|"taskHubName":")[A-Za-z0-9]+`)                                                            // read only
	codes   = regexp.MustCompile(`(code=)[\w%{}-]+=*`)                                                                                // read only
	tokens  = regexp.MustCompile(`(x-ms-continuation-token: )[^ ]+( ?)`)                                                              // read only
	pauses  = regexp.MustCompile(`("?retry-after"?[:,] ?"?)\d+`)                                                                      // 0 where a clock skips; read only
	known   = regexp.MustCompile(`(the known (?:orchestrator|activity|entity) functions: )'[^.]*'`)                                   // in no order; read only
	dates   = regexp.MustCompile(`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`)                                                        // read only
)

// plain takes out of a text what differs between two runs.
func plain(text string) string {
	text = guids.ReplaceAllString(addresses.ReplaceAllString(text, "{host}"), "{guid}")
	text = strings.ReplaceAll(hexes.ReplaceAllString(text, "{id}"), "{guid}", "{id}")
	text = pauses.ReplaceAllString(dates.ReplaceAllString(text, "{date}"), "${1}{seconds}")
	text = nested.ReplaceAllString(moments.ReplaceAllString(text, "{time}"), "$1…")
	text = stacks.ReplaceAllString(text, `$1$2:"…"`)
	text = codes.ReplaceAllString(hubs.ReplaceAllString(text, "${1}{hub}"), "${1}{key}")
	text = known.ReplaceAllString(tokens.ReplaceAllString(text, "$1{token}$2"), "$1…")
	return worker.ReplaceAllString(text, "")
}
