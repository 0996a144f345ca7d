package restbench_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen/listentest"
)

// The contestants. All are processes of their own, so that none carries the
// client's garbage and each has its own memory to be measured.
const (
	floor         = "floor"
	memory        = "memory"
	durable       = "durable"
	azurite       = "Azurite" // as it comes: files, written every few seconds
	azuriteMemory = "Azurite in memory"
)

// Environment of a process that serves. With the last one it writes a CPU profile
// to that file, with the contestant's name in front.
const (
	serverVariable  = "REDELIVER_RESTBENCH"
	depthVariable   = "REDELIVER_RESTBENCH_DEPTH"
	dirVariable     = "REDELIVER_RESTBENCH_DIR"
	profileVariable = "REDELIVER_RESTBENCH_PROFILE"
)

// A server is a contestant that runs.
type server struct {
	name       string
	connection string        // for both services
	started    time.Duration // from the start of the process to its first answer
	pid        int
}

// prefilled is the queue that a server has from the start, if it is given a
// depth.
const prefilled = "filled"

// open starts a contestant, with so many messages in it. It ends with b.
func open(b *testing.B, name string, depth int) *server {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"="+name, depthVariable+"="+strconv.Itoa(depth), dirVariable+"="+b.TempDir())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close() // it serves until then
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("%s does not serve: %v", name, err)
	}
	s := &server{name: name, connection: strings.TrimSpace(line), pid: cmd.Process.Pid}
	s.firstAnswer(b, begun)
	return s
}

// openAzurite starts Azurite, all services in one process, as its own command
// does.
func openAzurite(b *testing.B, name, main string) *server {
	b.Helper()
	queuePort, blobPort := freePort(), freePort()
	args := []string{main, "--queuePort", queuePort, "--blobPort", blobPort, "--tablePort", freePort(), "--skipApiVersionCheck", "--disableTelemetry", "--silent"}
	if name == azuriteMemory {
		args = append(args, "--inMemoryPersistence")
	} else {
		args = append(args, "--location", b.TempDir())
	}
	cmd := exec.Command("node", args...)
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	s := &server{name: name, pid: cmd.Process.Pid}
	s.connection = connectionString("http://127.0.0.1:"+queuePort, "http://127.0.0.1:"+blobPort)
	s.firstAnswer(b, begun)
	return s
}

// azuriteMain is where `make interop` puts Azurite; empty if it has not.
func azuriteMain() string {
	main, err := filepath.Abs("../../../../.interop/node_modules/azurite/dist/src/azurite.js")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(main); err != nil {
		return ""
	}
	return main
}

func freePort() string { return strconv.Itoa(listentest.FreePort()) }

// firstAnswer asks until both services answer.
func (s *server) firstAnswer(b *testing.B, begun time.Time) {
	b.Helper()
	for _, service := range []string{"QueueEndpoint=", "BlobEndpoint="} {
		_, url, _ := strings.Cut(s.connection, service)
		url, _, _ = strings.Cut(url, ";")
		for {
			resp, err := http.Get(url + "?comp=list")
			if err == nil {
				resp.Body.Close() // refused, for want of a signature; that is an answer
				break
			}
			if time.Since(begun) > time.Minute {
				b.Fatalf("%s gives no answer: %v", s.name, err)
			}
			time.Sleep(time.Millisecond) // another process starts; nothing tells when
		}
	}
	s.started = time.Since(begun)
	http.DefaultClient.CloseIdleConnections()
}

// resident returns the bytes of memory that the process has, 0 if this system
// does not tell.
func (s *server) resident() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// processor returns the processor time that the process has used, to some
// hundredths of a second; 0 if this system does not tell.
func (s *server) processor() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		return 0
	}
	// The second field is a name in brackets; the 14th and 15th are ticks of 10 ms.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// serve is the other side of open: it prints a connection string, and serves
// until its standard input ends.
func serve(kind string) int {
	if file := os.Getenv(profileVariable); file != "" {
		f, err := os.Create(filepath.Join(filepath.Dir(file), kind+"-"+filepath.Base(file)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer f.Close()
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	if err := serveUntilEOF(kind); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveUntilEOF(kind string) (err error) {
	if kind == floor {
		return serveFloor()
	}
	clk := clock.NewVirtual(time.Now(), nil)
	clk.Real()
	defer clk.Close()
	var storage *emulator.Storage
	switch kind {
	case memory:
		storage = emulator.New(clk, nil)
	case durable:
		db, err := store.Open(os.Getenv(dirVariable), nil)
		if err != nil {
			return err
		}
		defer db.Close()
		if storage, err = emulator.Open(clk, db, nil); err != nil {
			return err
		}
	default:
		return errors.New("no such contestant: " + kind)
	}
	if depth, _ := strconv.Atoi(os.Getenv(depthVariable)); depth > 0 {
		clk.Inside("fill", func() { err = fill(storage.Queue(prefilled), depth) })
		if err != nil {
			return err
		}
	}
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: storage, Blobs: storage}
	server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}})
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Close()
	fmt.Println(connectionString(server.QueueURL(), server.BlobURL()))
	io.Copy(io.Discard, os.Stdin)
	return nil
}

func connectionString(queueURL, blobURL string) string {
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s/%[1]s;QueueEndpoint=%[4]s/%[1]s;",
		rest.DevAccount, rest.DevKey, blobURL, queueURL)
}

// serveFloor answers every request with the bytes that the service would send.
// The name of a container tells the content of its blobs.
func serveFloor() error {
	const (
		date  = "Wed, 02 Jan 2030 03:04:05 GMT"
		times = "<InsertionTime>" + date + "</InsertionTime><ExpirationTime>" + date + "</ExpirationTime><PopReceipt>AAAAAAAAAAAAAAAAAAAAAA==</PopReceipt><TimeNextVisible>" + date + "</TimeNextVisible>"
		head  = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>00000000-0000-0000-0000-000000000000</MessageId>` + times
		tail  = "</QueueMessage></QueueMessagesList>"
	)
	put := []byte(head + tail)
	get := []byte(head + "<DequeueCount>1</DequeueCount><MessageText>" + text + "</MessageText>" + tail)
	contents := map[string][]byte{}
	for _, size := range blobSizes {
		contents[containerOf(size)] = make([]byte, size)
	}
	common := func(w http.ResponseWriter, r *http.Request) http.Header {
		io.Copy(io.Discard, r.Body)
		h := w.Header()
		h.Set("X-Ms-Request-Id", "00000000-0000-0000-0000-000000000000")
		h.Set("X-Ms-Version", r.Header.Get("X-Ms-Version"))
		h.Set("X-Ms-Client-Request-Id", r.Header.Get("X-Ms-Client-Request-Id"))
		h.Set("Date", date)
		h.Set("Server", "Floor")
		return h
	}
	queues := func(w http.ResponseWriter, r *http.Request) {
		h := common(w, r)
		switch {
		case r.Method == http.MethodPost:
			h.Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusCreated)
			w.Write(put)
		case r.Method == http.MethodGet:
			h.Set("Content-Type", "application/xml")
			w.Write(get)
		case r.Method == http.MethodPut:
			w.WriteHeader(http.StatusCreated)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}
	blobs := func(w http.ResponseWriter, r *http.Request) {
		h := common(w, r)
		h.Set("Etag", `"0x8DB000000000000"`)
		h.Set("Last-Modified", date)
		h.Set("Content-Md5", "AAAAAAAAAAAAAAAAAAAAAA==")
		if r.Method != http.MethodGet {
			h.Set("X-Ms-Request-Server-Encrypted", "true")
			w.WriteHeader(http.StatusCreated)
			return
		}
		for _, f := range [][2]string{
			{"Content-Type", "application/octet-stream"}, {"Accept-Ranges", "bytes"}, {"X-Ms-Blob-Type", "BlockBlob"},
			{"X-Ms-Lease-Status", "unlocked"}, {"X-Ms-Lease-State", "available"}, {"X-Ms-Creation-Time", date}, {"X-Ms-Server-Encrypted", "true"},
		} {
			h.Set(f[0], f[1])
		}
		path := strings.Split(r.URL.Path, "/")
		content := contents[path[min(2, len(path)-1)]]
		h.Set("Content-Length", strconv.Itoa(len(content)))
		w.Write(content)
	}
	var urls []string
	for _, handler := range []http.HandlerFunc{queues, blobs} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s := &http.Server{Handler: handler}
		go s.Serve(l)
		defer s.Close()
		urls = append(urls, "http://"+l.Addr().String())
	}
	fmt.Println(connectionString(urls[0], urls[1]))
	io.Copy(io.Discard, os.Stdin)
	return nil
}

func fill(q queue, depth int) error {
	ctx := context.Background()
	if err := q.Create(ctx); err != nil {
		return err
	}
	for range depth {
		if _, err := q.Put(ctx, smallText, nil); err != nil {
			return err
		}
	}
	return nil
}
