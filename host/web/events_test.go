package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web"
)

// event is one of server-sent events.
type event struct {
	kind, id, data string
}

// seqs are the sequence numbers of the records of an event.
func (e event) seqs(t testing.TB) (out []uint64) {
	t.Helper()
	var list []struct{ Seq uint64 }
	if err := json.Unmarshal([]byte(e.data), &list); err != nil {
		t.Fatalf("event %q: %v", e.data, err)
	}
	for _, r := range list {
		out = append(out, r.Seq)
	}
	return out
}

// reader reads server-sent events.
type reader struct {
	t    testing.TB
	resp *http.Response
	in   *bufio.Reader
}

// events opens the stream of the journal.
func (d *fixture) events(query, last string) *reader {
	d.t.Helper()
	return d.stream("/journal"+query, last)
}

// stream opens a stream.
func (d *fixture) stream(path, last string) *reader {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), "GET", d.web.URL()+prefix+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { resp.Body.Close() })
	return &reader{d.t, resp, bufio.NewReader(resp.Body)}
}

// next is the next event, without comments; none at the end.
func (r *reader) next() (e event) {
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return event{}
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.kind = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e != (event{}) {
				return e
			}
		}
	}
}

// Lives come as what has changed of them, to each page from the beginning, and whoever takes no
// events gets them whole.
func TestLives(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	j := d.host.Journal()
	told := journal.Record{Kind: journal.Enqueued, Service: journal.Queues, Source: "orders", MessageID: "m1"}
	j.Append(told)
	first := d.stream("/lives", "")
	changes := func(e event) (c explain.Changes) {
		t.Helper()
		if err := json.Unmarshal([]byte(e.data), &c); err != nil || e.kind != "lives" || e.id != fmt.Sprint(j.Len()) {
			t.Fatalf("event %+v: %v", e, err)
		}
		return c
	}
	if c := changes(first.next()); len(c.Lives) != 1 || c.Lives[0].State != "in orders" || len(c.Lives[0].Marks) != 1 || len(c.Host) == 0 || c.Host[0].Kind != string(journal.HostStarted) {
		t.Errorf("first comes %+v", c)
	}
	told.Kind, told.Function, told.Delivery = journal.Received, "Orders", "d1"
	j.Append(told)
	if c := changes(first.next()); len(c.Lives) != 1 || c.Lives[0].Outcome != explain.Running || len(c.Lives[0].Marks) != 0 || len(c.Lives[0].Deliveries) != 1 || len(c.Host) != 0 {
		t.Errorf("then comes %+v", c)
	}
	again := changes(d.stream("/lives", "1").next())
	whole := get[explain.Changes](d, 200, "GET", prefix+"/lives", "")
	for name, c := range map[string]explain.Changes{"another page": again, "the operation": whole} {
		if len(c.Lives) != 1 || len(c.Lives[0].Marks) != 1 || len(c.Lives[0].Deliveries) != 1 {
			t.Errorf("%s is told %+v", name, c)
		}
	}
	if run := first.resp.Header.Get(web.RunHeader); run == "" || run != d.events("", "").resp.Header.Get(web.RunHeader) {
		t.Errorf("the run is %q", run)
	}
}

func named(name string) journal.Record {
	return journal.Record{Kind: journal.FaultInjected, Name: name}
}

// Records come as events, each batch with the number of its last one, and a reader that
// names it goes on behind it.
func TestEvents(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	j := d.host.Journal()
	j.Append(journal.Record{Kind: journal.AttemptEnded, Name: "a\nb\u2028", Error: "<script>\xff", Beside: journal.Beside{Stack: "at f()\nat g()", Batch: `["m1","m2"]`, Elapsed: 7 * time.Millisecond}})
	n := j.Len()
	one := d.events("", "")
	if kind, run := one.resp.Header.Get("Content-Type"), one.resp.Header.Get(web.RunHeader); kind != "text/event-stream" || run == "" || one.resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("header %v", one.resp.Header)
	}
	all := one.next()
	if got := all.seqs(t); all.kind != "records" || len(got) != int(n) || got[0] != 1 || all.id != fmt.Sprint(n) {
		t.Errorf("event %q with the numbers %v and id %s, want 1 to %d", all.kind, got, all.id, n)
	}
	var list []struct {
		Name, Error, Stack string
		Batch              []string
		ElapsedMS          int `json:"elapsed_ms"`
	}
	if err := json.Unmarshal([]byte(all.data), &list); err != nil {
		t.Fatal(err)
	}
	if got := list[n-1]; got.Name != "a\nb\u2028" || got.Error != "<script>\ufffd" || got.Stack != "at f()\nat g()" || len(got.Batch) != 2 || got.ElapsedMS != 7 {
		t.Errorf("the record is %+v", got)
	}
	if more := one.next(); more != (event{}) {
		t.Errorf("a stream that does not follow has the further event %+v", more)
	}

	follower := d.events("?since=1&follow=true", fmt.Sprint(n)) // Last-Event-ID wins
	j.Append(named("new"))
	if e := follower.next(); e.id != fmt.Sprint(n+1) || !strings.Contains(e.data, `"name":"new"`) || len(e.seqs(t)) != 1 {
		t.Errorf("after record %d comes %+v", n, e)
	}
	second := d.events(fmt.Sprintf("?follow=true&since=%d", n+2), "")
	j.Append(named("both"))
	for _, r := range []*reader{follower, second} {
		if e := r.next(); !strings.Contains(e.data, `"name":"both"`) {
			t.Errorf("one of two readers gets %+v", e)
		}
	}
	if ahead := d.events("", fmt.Sprint(n+1000)).next(); ahead.seqs(t)[0] != 1 {
		t.Errorf("the reader of another run begins with %v", ahead.seqs(t)[0])
	}
	if run := d.events("", "").resp.Header.Get(web.RunHeader); run != one.resp.Header.Get(web.RunHeader) {
		t.Errorf("one run has the identities %q and %q", one.resp.Header.Get(web.RunHeader), run)
	}
	for _, last := range []string{"x", "-1", "1.5", "99999999999999999999"} {
		if r := d.events("", last); r.resp.StatusCode != 400 {
			t.Errorf("Last-Event-ID %q: %d, want 400", last, r.resp.StatusCode)
		}
	}
	if err := d.web.Close(); err != nil {
		t.Fatal(err)
	}
	for e := follower.next(); e != (event{}); e = follower.next() {
	}
}

// A batch has an end, and what is no longer kept is told as such, where it is missing.
func TestEventsInBatches(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	j := d.host.Journal()
	for i := range journal.DefaultKeep + 5000 {
		j.Append(named(fmt.Sprint(i)))
	}
	first := j.Records()[0].Seq
	r := d.events("", "")
	if e := r.next(); e.kind != "missed" || e.data != fmt.Sprintf(`{"missed":%d}`, first-1) {
		t.Fatalf("the first event is %+v, want %d missed", e, first-1)
	}
	next := first
	for e := r.next(); e.kind != ""; e = r.next() {
		numbers := e.seqs(t)
		if len(numbers) > 1000 || numbers[0] != next {
			t.Fatalf("a batch has %d records from %d, want at most 1000 from %d", len(numbers), numbers[0], next)
		}
		next += uint64(len(numbers))
	}
	if next != j.Len()+1 {
		t.Errorf("the last record is %d, want %d", next-1, j.Len())
	}
	large := strings.Repeat("x", 700<<10)
	from := j.Len() + 1
	for range 3 {
		j.Append(journal.Record{Kind: journal.HandlerLog, Message: large})
	}
	r = d.events(fmt.Sprintf("?since=%d", from), "")
	if a, b := r.next(), r.next(); len(a.seqs(t)) != 2 || len(b.seqs(t)) != 1 {
		t.Errorf("long records come in batches of %d and %d, want 2 and 1", len(a.seqs(t)), len(b.seqs(t)))
	}
}

// A reader that does not read misses records, holds up nobody, and not the server's end.
func TestEventsOfASlowReader(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	j := d.host.Journal()
	slow, idle := d.events("?follow=true", ""), d.events("?follow=true", "")
	slow.next()
	text := strings.Repeat("x", 4<<10)
	for i := range journal.DefaultKeep + 5000 { // more than the journal keeps, and than sockets hold
		j.Append(journal.Record{Kind: journal.HandlerLog, Message: text, Name: fmt.Sprint(i)})
	}
	quick := d.events(fmt.Sprintf("?since=%d", j.Len()), "")
	if e := quick.next(); e.id != fmt.Sprint(j.Len()) {
		t.Fatalf("a reader beside a slow one gets %+v", e)
	}
	missed := false
	for {
		e := slow.next()
		if missed = missed || e.kind == "missed"; e.kind == "" || e.id == fmt.Sprint(j.Len()) {
			break
		}
	}
	if !missed {
		t.Error("a slow reader is not told that it missed records")
	}
	began := time.Now()
	if err := d.web.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 4*time.Second { // after 5 s the server would cut the connection
		t.Errorf("a reader that does not read held up the end of the server for %v", took)
	}
	_, _ = io.Copy(io.Discard, idle.in)
}

// Where nothing happens the stream says that it is alive, every 15 s.
func TestEventsAlive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, app(plainHostJSON))
	synctest.Test(t, func(t *testing.T) {
		near := connect(t, dir, func(http.ResponseWriter, *http.Request) {})
		fmt.Fprintf(near, "GET %s/journal?follow=true&since=1000 HTTP/1.1\r\nHost: localhost\r\nAccept: text/html, Text/Event-Stream;q=0.9\r\n\r\n", prefix)
		resp, err := http.ReadResponse(bufio.NewReader(near), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		since, in := time.Now(), bufio.NewReader(resp.Body)
		for i := range 20 { // longer than a caller that does not read is waited for
			line, err := in.ReadString('\n')
			if took := time.Since(since).Round(time.Second); err != nil || line != ": alive\n" || took != time.Duration(i+1)*15*time.Second {
				t.Fatalf("%q after %v, %v", line, took, err)
			}
			if _, err := in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		near.Close()
	})
}

// What happened before the end of the server is told, also when it has just told something.
func TestEventsUntilTheEnd(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*http.Request){"events": withHeader("Accept", "text/event-stream"), "lines": withHeader("Accept", "*/*")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, app(plainHostJSON), nil, nil)
			r, err := http.NewRequestWithContext(t.Context(), "GET", d.web.URL()+prefix+"/journal?follow=true", nil)
			if err != nil {
				t.Fatal(err)
			}
			edit(r)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			in := bufio.NewReader(resp.Body)
			if _, err := in.ReadString('\n'); err != nil { // a batch is on its way
				t.Fatal(err)
			}
			d.host.Journal().Append(named("last words"))
			if err := d.web.Close(); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(in); err != nil || !strings.Contains(string(rest), `"name":"last words"`) {
				t.Errorf("the stream ends with %v: %.200s", err, rest)
			}
		})
	}
}

// opened is where a stream goes that tells when it is open, and is read by nobody.
type opened struct {
	http.ResponseWriter
	once sync.Once
	is   chan struct{}
}

func (w *opened) WriteHeader(int) { w.once.Do(func() { close(w.is) }) }
func (w *opened) Flush()          {}

// A batch is one record of many lives: those of an event are bounded.
func TestLivesOfBatches(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	const batches, size = 10, 600
	for b := range batches {
		var ids []string
		for i := range size {
			ids = append(ids, fmt.Sprintf("m%d-%d", b, i))
		}
		list, _ := json.Marshal(ids)
		d.host.Journal().Append(journal.Record{
			Kind: journal.Received, Function: "Orders", Trigger: "serviceBusTrigger", Source: "orders", MessageID: ids[0],
			Delivery: fmt.Sprint("d", b), Beside: journal.Beside{Batch: string(list)},
		})
	}
	s := d.stream("/lives", "")
	for told := 0; told < batches*size; {
		var c explain.Changes
		if err := json.Unmarshal([]byte(s.next().data), &c); err != nil {
			t.Fatal(err)
		}
		if told += len(c.Lives); len(c.Lives) > 2*size {
			t.Fatalf("one event tells %d lives", len(c.Lives))
		}
	}
}

// So many pages are told lives at once.
func TestPagesAreFew(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	for i := range web.MostPages {
		if r := d.stream("/lives", ""); r.resp.StatusCode != http.StatusOK {
			t.Fatalf("page %d is answered %d", i+1, r.resp.StatusCode)
		}
	}
	refused := d.stream("/lives", "")
	if body, _ := io.ReadAll(refused.in); refused.resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(body), "pages are open already") {
		t.Errorf("one too many is answered %d, %.80s", refused.resp.StatusCode, body)
	}
	if r := d.events("", ""); r.resp.StatusCode != http.StatusOK {
		t.Errorf("a reader of records is answered %d", r.resp.StatusCode)
	}
}

// So many read the journal at once, and one more is told why not; when one of them goes,
// there is room for another.
func TestStreamsAreFew(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	for i := range web.MostStreams - 1 {
		if r := d.events("?follow=true", ""); r.resp.StatusCode != http.StatusOK {
			t.Fatalf("stream %d is answered %d", i+1, r.resp.StatusCode)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	last := &opened{ResponseWriter: httptest.NewRecorder(), is: make(chan struct{})}
	r := httptest.NewRequest("GET", "http://localhost"+prefix+"/journal?follow=true", nil).WithContext(ctx)
	r.RemoteAddr = "127.0.0.1:40000"
	var serving sync.WaitGroup
	serving.Go(func() { d.web.Handler().ServeHTTP(last, r) })
	<-last.is
	refused := d.events("", "")
	if body, _ := io.ReadAll(refused.in); refused.resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(body), "read the journal already") {
		t.Errorf("one too many is answered %d, %.80s", refused.resp.StatusCode, body)
	}
	leave()
	serving.Wait()
	if r := d.events("", ""); r.resp.StatusCode != http.StatusOK {
		t.Errorf("when one has gone the next is answered %d", r.resp.StatusCode)
	}
}

// Streams that nobody reads, of a browser that was left open, take a bounded room, however
// much happens.
func TestEventsLeftOpen(t *testing.T) {
	d := open(t, app(plainHostJSON), nil, nil)
	j := d.host.Journal()
	const streams, mega = 8, 1 << 20
	for range streams {
		d.events("?follow=true", "").next()
	}
	text := strings.Repeat("x", 8<<10)
	for i := range 40_000 { // 320 MiB
		j.Append(journal.Record{Kind: journal.HandlerLog, Message: text + fmt.Sprint(i)})
	}
	runtime.GC()
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if most := uint64(journal.DefaultKeepBytes + (streams*4+48)*mega); after.HeapAlloc > most {
		t.Errorf("%d MiB are in use, want at most %d: the journal, and a batch for each stream", after.HeapAlloc/mega, most/mega)
	}
}
