package azure_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/listen"
)

// The differential tests send the same requests to Azurite and to our servers, at
// the same time of day, and compare the answers. differ_test.go compares,
// differprogram_test.go makes the requests, differmask_test.go has the known
// differences.

// exchange is one request, the same for both servers except for their own
// texts: a text in braces stands for one that the server has sent before.
type exchange struct {
	op      string // the operation's name, for masks and people
	service byte   // 'b' or 'q'
	method  string
	path    string // below the account
	query   []string
	header  []string // names and values in turn, like query
	body    string

	wait   time.Duration // passes before
	about  string        // the text of the message that the request is about
	sas    func(s *side, at time.Time) string
	signed string // what the signature says, for people
	bare   bool   // without a signature
}

func (e *exchange) String() string {
	return fmt.Sprintf("+%v %s: %s %s %q %q %.300q %s", e.wait, e.op, e.method, e.path, e.query, e.header, e.body, e.signed)
}

// side is one of the two servers, and what it has said.
type side struct {
	name    string
	urls    map[byte]string // of the account, by service
	account string
	key     string
	client  *http.Client

	box  string                    // what {box} stands for
	said map[string]string         // what other braces stand for
	seen map[string]map[string]int // made-up values by kind, numbered as they appeared
}

// answer is a server's answer, without the texts that it made up.
type answer struct {
	status int
	code   string
	fields map[string]string // headers, and the body: XML element by element
	clash  bool              // a made-up version is one that was there before
}

func (a *answer) String() string { return strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.code)) }

// pair is Azurite and our servers, with an account of the same name each.
type pair struct {
	theirs, ours *side
	clk          *clock.Virtual
	at           *azuriteTime
	boxes        int
}

// pairs counts accounts that are used in both of Azurite's services.
var pairs atomic.Int64

func newPair(t testing.TB) *pair {
	t.Helper()
	p := &pair{clk: clock.NewVirtual(start, nil), at: newAzuriteTime(t, func(*http.Request) bool { return false })}
	name := azuritePair(int(pairs.Add(1)))
	for _, a := range []*azuriteServer{&azurite, &azuriteBlobs} {
		if a.once.Do(a.start); a.err != nil {
			t.Fatal(a.err)
		}
	}
	p.theirs = newSide("azurite", name, azuriteBlobs.url, azurite.url, &http.Client{Transport: p.at})

	storage := emulator.New(p.clk, nil)
	// Azurite serves pages of any origin. Our guard allows the origins of the
	// programs, so that we serve them too.
	guard := &listen.Guard{Origins: []string{"http://a.example", "http://b.example", "https://a.example"}}
	server, err := served.NewServer(p.clk, &rest.Options{Guard: guard, Accounts: []rest.Account{{
		Name: name, Keys: []string{azuriteKey()}, Queues: storage, QueueAdmin: storage, Blobs: storage,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	p.ours = newSide("ours", name, server.BlobURL(), server.QueueURL(), &http.Client{Transport: transport})
	return p
}

func newSide(name, account, blobs, queues string, client *http.Client) *side {
	return &side{
		name: name, account: account, key: azuriteKey(), client: client,
		urls: map[byte]string{'b': blobs + "/" + account, 'q': queues + "/" + account},
	}
}

// difference is one thing that the servers do not agree on.
type difference struct {
	exchange     *exchange
	field        string // "answer" (status and code), a header or an element
	ours, theirs string
	appended     bool // both answers are of an append blob
	unwritten    bool // our server has no blob of that name
}

func (d difference) String() string {
	return fmt.Sprintf("%s: ours %q, azurite %q", d.field, d.ours, d.theirs)
}

// errDiverged: a difference that is known has left the two in different states.
var errDiverged = errors.New("the states have diverged")

// run plays a program, in a container and a queue of its own, until it ends or
// the two servers are in different states. It returns the first exchange with
// an unknown difference, and all differences of that exchange; it counts the
// known ones.
func (p *pair) run(t testing.TB, program []*exchange, known map[string]int) (*exchange, []difference) {
	t.Helper()
	p.boxes++
	for _, s := range []*side{p.ours, p.theirs} {
		s.box, s.said, s.seen = fmt.Sprintf("box%06d", p.boxes), map[string]string{}, map[string]map[string]int{}
	}
	for _, e := range program {
		wait := max(e.wait, time.Millisecond)
		p.clk.Advance(wait)
		p.at.Advance(wait)
		at := p.at.Now()
		unwritten := p.ours.said["etag "+place(e.path)] == ""
		ours, theirs := p.ours.send(t, e, at), p.theirs.send(t, e, at)
		if ours.clash || theirs.clash {
			return nil, nil // Azurite draws ETags from a small urn
		}
		unknown, err := judge(compare(e, ours, theirs, unwritten), known)
		if len(unknown) > 0 {
			return e, unknown
		}
		if err != nil {
			return nil, nil
		}
	}
	return nil, nil
}

// judge leaves what no mask knows.
func judge(differences []difference, known map[string]int) (unknown []difference, err error) {
	for _, d := range differences {
		m := maskOf(d)
		if m == nil {
			unknown = append(unknown, d)
			continue
		}
		known[m.source]++
		if m.diverges {
			err = errDiverged
		}
	}
	if err != nil {
		return nil, err
	}
	return unknown, nil
}

// compare returns what two answers do not agree on. Answers that are not both
// successes are compared by status and code alone.
func compare(e *exchange, ours, theirs *answer, unwritten bool) []difference {
	var out []difference
	appended := ours.fields["X-Ms-Blob-Type"] == "AppendBlob" && theirs.fields["X-Ms-Blob-Type"] == "AppendBlob"
	add := func(field, a, b string) {
		if a != b {
			out = append(out, difference{e, field, a, b, appended, unwritten})
		}
	}
	add("answer", ours.String(), theirs.String())
	if len(out) > 0 || ours.status >= 300 {
		return out
	}
	fields := slices.Concat(slices.Collect(maps.Keys(ours.fields)), slices.Collect(maps.Keys(theirs.fields)))
	slices.Sort(fields)
	for _, f := range slices.Compact(fields) {
		add(f, ours.fields[f], theirs.fields[f])
	}
	return out
}

// place is a path as texts in braces have it.
func place(path string) string { return strings.ReplaceAll(path, "{box}", "~") }

var braces = regexp.MustCompile(`\{[^{}]+\}`)

// fill puts what the server has said in the place of texts in braces.
func (s *side) fill(text string, at time.Time) string {
	return braces.ReplaceAllStringFunc(text, func(b string) string {
		key := b[1 : len(b)-1]
		if offset, ok := strings.CutPrefix(key, "now"); ok {
			d, err := time.ParseDuration(offset + "s")
			if err != nil {
				panic(err)
			}
			return at.Add(d).UTC().Format(http.TimeFormat)
		}
		switch key {
		case "box":
			return s.box
		case "blobs":
			return s.urls['b']
		}
		if v, ok := s.said[key]; ok {
			return v
		}
		if strings.Contains(key, "etag") {
			return `"0x0"`
		}
		if strings.HasPrefix(key, "snapshot") {
			return "2020-01-01T00:00:00.0000000Z"
		}
		if strings.HasPrefix(key, "marker") {
			return ""
		}
		return "AAAAAAAAAAAA"
	})
}

func (s *side) send(t testing.TB, e *exchange, at time.Time) *answer {
	t.Helper()
	var query []string
	for i := 0; i+1 < len(e.query); i += 2 {
		query = append(query, url.QueryEscape(e.query[i])+"="+url.QueryEscape(s.fill(e.query[i+1], at)))
	}
	if e.sas != nil {
		query = append(query, e.sas(s, at))
	}
	address := s.urls[e.service] + s.fill(e.path, at)
	if len(query) > 0 {
		address += "?" + strings.Join(query, "&")
	}
	var body io.Reader
	if e.body != "" {
		body = strings.NewReader(s.fill(e.body, at))
	}
	r, err := http.NewRequestWithContext(context.Background(), e.method, address, body)
	if err != nil {
		t.Fatalf("%v: %v", e, err)
	}
	r.Header["x-ms-version"] = []string{"2021-12-02"}
	r.Header["x-ms-date"] = []string{at.Format(http.TimeFormat)}
	for i := 0; i+1 < len(e.header); i += 2 {
		r.Header[e.header[i]] = []string{s.fill(e.header[i+1], at)}
	}
	if e.sas == nil && !e.bare {
		signShared(r, s.account, s.key)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatalf("%s: %v: %v", s.name, e, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v: %v", s.name, e, err)
	}
	return s.read(e, resp, b)
}

// signShared adds the Authorization header (docs: Authorize with Shared Key).
func signShared(r *http.Request, account, key string) {
	get := func(name string) string {
		for n, v := range r.Header {
			if strings.EqualFold(n, name) {
				return v[0]
			}
		}
		return ""
	}
	length := ""
	if r.ContentLength > 0 {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	text := r.Method
	for _, v := range []string{
		get("Content-Encoding"), get("Content-Language"), length, get("Content-MD5"), get("Content-Type"), "",
		get("If-Modified-Since"), get("If-Match"), get("If-None-Match"), get("If-Unmodified-Since"), get("Range"),
	} {
		text += "\n" + v
	}
	text += "\n"
	var headers []string
	for name, values := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-ms-") {
			headers = append(headers, lower+":"+strings.TrimSpace(values[0])+"\n")
		}
	}
	slices.SortFunc(headers, func(a, b string) int { // by name, not by line
		a, _, _ = strings.Cut(a, ":")
		b, _, _ = strings.Cut(b, ":")
		return strings.Compare(a, b)
	})
	text += strings.Join(headers, "") + "/" + account + r.URL.EscapedPath()
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		slices.Sort(query[name])
		text += "\n" + strings.ToLower(name) + ":" + strings.Join(query[name], ",")
	}
	r.Header.Set("Authorization", "SharedKey "+account+":"+macOf(key, text))
}

func macOf(key, text string) string {
	k, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		panic(err)
	}
	h := hmac.New(sha256.New, k)
	io.WriteString(h, text)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// notCompared are headers that say nothing about the request.
var notCompared = []string{
	"Date", "Server", "X-Ms-Request-Id", "X-Ms-Version", "Connection", "Keep-Alive", "Transfer-Encoding", "X-Ms-Client-Request-Id",
}

// madeUp are headers and elements whose values servers make up.
var madeUp = map[string]string{
	"Etag": "etag", "MessageId": "message", "PopReceipt": "given", "X-Ms-Popreceipt": "given", "X-Ms-Snapshot": "snapshot", "Snapshot": "snapshot",
	"X-Ms-Copy-Id": "copy", "CopyId": "copy", "X-Ms-Lease-Id": "lease",
}

// plain is the value as both servers should have it. A text that a server makes
// up becomes the number of its first appearance.
func (s *side) plain(name, value string) string {
	for service, u := range s.urls {
		value = strings.ReplaceAll(value, u, "{"+string(service)+"}")
	}
	value = strings.ReplaceAll(value, s.box, "{box}")
	kind := madeUp[name]
	if kind == "" || value == "" {
		return value
	}
	switch kind {
	case "given": // Azurite gives all messages of one get the same
		return kind
	case "etag":
		value = strings.Trim(value, `"`)
	}
	if s.seen[kind] == nil {
		s.seen[kind] = map[string]int{}
	}
	n, ok := s.seen[kind][value]
	if !ok {
		n = len(s.seen[kind]) + 1
		s.seen[kind][value] = n
	}
	return "#" + strconv.Itoa(n)
}

// read takes an answer apart and remembers what later requests may refer to.
func (s *side) read(e *exchange, resp *http.Response, body []byte) *answer {
	a := &answer{status: resp.StatusCode, code: resp.Header.Get("X-Ms-Error-Code"), fields: map[string]string{}}
	if resp.StatusCode >= 300 {
		return a
	}
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		if !slices.Contains(notCompared, name) {
			a.fields[name] = s.plain(name, strings.Join(resp.Header[name], ","))
		}
	}
	what := place(e.path)
	if i := slices.Index(e.query, "snapshot"); i < 0 {
		if etag := resp.Header.Get("Etag"); etag != "" {
			if old := s.said["etag "+what]; old != etag {
				if old != "" {
					s.said["old etag "+what] = old
				}
				wrote := e.method != http.MethodGet && e.method != http.MethodHead
				a.clash = wrote && s.said["etag "+etag] != ""
				s.said["etag "+etag] = what
			}
			s.said["etag "+what] = etag
		}
		if e.method == http.MethodDelete && !slices.Contains(e.header, "only") {
			delete(s.said, "etag "+what)
		}
	}
	if snapshot := resp.Header.Get("X-Ms-Snapshot"); snapshot != "" {
		s.said["snapshot "+what] = snapshot
	}
	if receipt := resp.Header.Get("X-Ms-Popreceipt"); receipt != "" {
		s.hearReceipt(e.about, receipt)
	}
	if !bytes.HasPrefix(body, []byte("<?xml")) {
		a.fields["body"] = string(body)
		return a
	}
	delete(a.fields, "Content-Length")
	for _, el := range elements(baseLast(body)) {
		// An empty element is as good as none, and a marker is the server's own.
		if el.text != "" && el.name != "Marker" && el.name != "NextMarker" {
			a.fields[el.path] = s.plain(el.name, el.text)
		}
	}
	if next := textOf(body, "NextMarker"); next != "" {
		a.fields["NextMarker"] = "more"
		s.said["marker "+listed(e.query)] = next
	}
	s.hearMessages(e, body)
	return a
}

// hearMessages remembers identifiers and receipts by the texts of messages.
func (s *side) hearMessages(e *exchange, body []byte) {
	var list struct {
		Messages []struct {
			MessageID   string `xml:"MessageId"`
			PopReceipt  string
			MessageText string
		} `xml:"QueueMessage"`
	}
	if xml.Unmarshal(body, &list) != nil {
		return
	}
	for _, m := range list.Messages {
		text := m.MessageText
		if text == "" {
			text = e.about
		}
		s.said["id "+text] = m.MessageID
		if m.PopReceipt != "" {
			s.hearReceipt(text, m.PopReceipt)
		}
	}
}

func (s *side) hearReceipt(text, receipt string) {
	if old := s.said["receipt "+text]; old != "" {
		s.said["old receipt "+text] = old
	}
	s.said["receipt "+text] = receipt
}

var oneBlob = regexp.MustCompile(`(?s)<Blob>.*?</Blob>`)

// baseLast puts blobs of a list behind their snapshots (docs, List Blobs), where
// Azurite has them anywhere.
func baseLast(list []byte) []byte {
	blobs := oneBlob.FindAll(list, -1)
	slices.SortStableFunc(blobs, func(a, b []byte) int {
		return cmp.Or(strings.Compare(textOf(a, "Name"), textOf(b, "Name")), strings.Compare(
			cmp.Or(textOf(a, "Snapshot"), "z"), cmp.Or(textOf(b, "Snapshot"), "z")))
	})
	return oneBlob.ReplaceAllFunc(list, func([]byte) (next []byte) {
		next, blobs = blobs[0], blobs[1:]
		return next
	})
}

// element is a text in a document, by its path.
type element struct{ path, name, text string }

// elements lists the texts and attributes of a document in order. Siblings of
// one name are numbered, if there is more than one.
func elements(doc []byte) []element {
	var out []element
	var path []string
	counts := []map[string]int{{}}
	dec := xml.NewDecoder(bytes.NewReader(doc))
	var text strings.Builder
	for {
		token, err := dec.Token()
		if err != nil {
			return out
		}
		switch x := token.(type) {
		case xml.StartElement:
			top := counts[len(counts)-1]
			top[x.Name.Local]++
			path = append(path, x.Name.Local+"["+strconv.Itoa(top[x.Name.Local])+"]")
			counts = append(counts, map[string]int{})
			text.Reset()
			for _, attr := range x.Attr {
				out = append(out, element{strings.Join(path, "/") + "@" + attr.Name.Local, attr.Name.Local, attr.Value})
			}
		case xml.CharData:
			text.Write(x)
		case xml.EndElement:
			if len(counts[len(counts)-1]) == 0 {
				out = append(out, element{strings.ReplaceAll(strings.Join(path, "/"), "[1]", ""), x.Name.Local, text.String()})
			}
			path, counts = path[:len(path)-1], counts[:len(counts)-1]
			text.Reset()
		}
	}
}

func textOf(doc []byte, name string) string {
	for _, el := range elements(doc) {
		if el.name == name {
			return el.text
		}
	}
	return ""
}
