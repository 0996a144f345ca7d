package rest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

const (
	maxBatchBody     = 4 << 20
	maxBatchRequests = 256
)

// submitBatch serves Blob Batch: several deletions or changes of tier, of the account
// or of one container. Each request in it proves for itself that it may.
//
// Source: docs, Blob Batch; what a batch that cannot be read is answered, Azurite:
// tests/blob/apis/blobbatch.test.ts.
func submitBatch(c *Call) error {
	kind := c.R.Header.Get("Content-Type")
	if kind == "" {
		return errMissingHeader("Content-Type")
	}
	b, err := c.Body(maxBatchBody)
	if err != nil {
		return err
	}
	answer := newBatchAnswer()
	boundary, refused := batchBoundary(kind)
	if refused == nil {
		var requests []batchRequest
		if requests, refused = readBatch(b, boundary); refused == nil {
			refused = checkOneKind(requests)
		}
		if refused == nil {
			for _, r := range requests {
				answer.add(c.batched(r))
			}
		}
	}
	if refused != nil { // the batch as a whole: an answer that has no identifier
		only := &batchResponse{header: http.Header{}}
		(&Call{front: c.front, W: only, R: c.R, id: c.id}).refuse(refused)
		answer.add(only)
	}
	c.W.Header().Set("Content-Type", "multipart/mixed; boundary="+answer.boundary)
	body := answer.close()
	c.W.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.W.WriteHeader(http.StatusAccepted)
	c.W.Write(body) // the client has gone
	return nil
}

// batchBoundary reads the boundary out of a content type. Clients write it without
// quotes, with any characters.
func batchBoundary(kind string) (string, *Error) {
	parts := strings.Split(kind, ";")
	boundary, found := "", 0
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		if strings.EqualFold(strings.TrimSpace(name), "boundary") {
			boundary = strings.Trim(strings.TrimSpace(value), `"`)
			found++
		}
	}
	switch {
	case found > 1:
		return "", NewError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.")
	case !strings.EqualFold(strings.TrimSpace(parts[0]), "multipart/mixed"), boundary == "":
		return "", errInvalidHeader("Content-Type", kind)
	}
	return boundary, nil
}

// batchRequest is a request of a batch; bad says why it is not valid.
type batchRequest struct {
	id  string // Content-ID
	r   *http.Request
	bad *Error
}

func readBatch(b []byte, boundary string) ([]batchRequest, *Error) {
	unreadable := NewError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.")
	parts := multipart.NewReader(bytes.NewReader(b), boundary)
	var requests []batchRequest
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) && len(requests) > 0 {
			return requests, nil
		}
		if err != nil {
			return nil, unreadable
		}
		if len(requests) == maxBatchRequests {
			return nil, NewError(http.StatusBadRequest, "ExceedsMaxBatchRequestCount", "The batch operation exceeds maximum number of allowed subrequests.")
		}
		one := batchRequest{id: part.Header.Get("Content-Id")}
		text, err := io.ReadAll(part)
		if err == nil {
			one.r, err = http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(text), strings.NewReader("\r\n\r\n"))))
		}
		if err != nil {
			one.bad = unreadable
		}
		requests = append(requests, one)
	}
}

// checkOneKind refuses batches that both delete blobs and set tiers.
//
// Source: Azurite, BlobBatchHandler.ts; the SDKs refuse to build such batches.
func checkOneKind(requests []batchRequest) *Error {
	deletes, tiers := 0, 0
	for _, one := range requests {
		switch {
		case one.r == nil:
		case one.r.Method == http.MethodDelete:
			deletes++
		case strings.EqualFold(lowerNames(one.r.URL.Query()).Get("comp"), "tier"):
			tiers++
		}
	}
	if deletes > 0 && tiers > 0 {
		return NewError(http.StatusBadRequest, "AllBatchSubRequestsShouldBeSameApi", "All batch subrequests should be the same api.")
	}
	return nil
}

// batched runs one request of a batch.
func (c *Call) batched(one batchRequest) *batchResponse {
	w := &batchResponse{id: one.id, header: http.Header{}}
	sub := &Call{front: c.front, W: w, R: one.r, in: c.in}
	if one.r == nil {
		sub.R = c.R
	} else {
		sub.R = one.r.WithContext(c.R.Context())
		sub.R.RemoteAddr, sub.R.Host = c.R.RemoteAddr, c.R.Host
	}
	sub.id = requestID(c.front.idPrefix, c.front.requests.Add(1))
	sub.commonHeaders()
	err := one.bad.asFailure()
	if err == nil {
		err = sub.serveIn(c)
	}
	if errors.Is(err, ErrCut) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		sub.refuse(asError(err))
	}
	return w
}

// asFailure is the error, or none: a nil *Error in an error would be one.
func (e *Error) asFailure() error {
	if e == nil {
		return nil
	}
	return e
}

// serveIn is serve for a request of a batch.
func (c *Call) serveIn(batch *Call) error {
	if err := c.locate(); err != nil {
		return err
	}
	if refused := c.admit(); refused != nil {
		return refused
	}
	op := c.op
	switch {
	case op.Name != "DeleteBlob" && op.Name != "SetBlobTier", c.R.ContentLength > 0:
		return NewError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", "a batch deletes blobs or sets their tier")
	case c.Account != batch.Account || len(batch.Path) > 0 && batch.Path[0] != c.Path[0]:
		return NewError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", "the blob is not in the account or container of the batch")
	}
	return op.Run(c)
}

// batchResponse is the answer to one request of a batch.
type batchResponse struct {
	id     string
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *batchResponse) Header() http.Header { return w.header }

func (w *batchResponse) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *batchResponse) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// batchAnswer is the body of the answer to a batch.
type batchAnswer struct {
	boundary string
	text     bytes.Buffer
	parts    *multipart.Writer
}

func newBatchAnswer() *batchAnswer {
	var raw [16]byte
	rand.Read(raw[:])
	a := &batchAnswer{boundary: "batchresponse_" + hex.EncodeToString(raw[:])}
	a.parts = multipart.NewWriter(&a.text)
	a.parts.SetBoundary(a.boundary)
	return a
}

func (a *batchAnswer) add(w *batchResponse) {
	head := textproto.MIMEHeader{"Content-Type": {"application/http"}}
	if w.id != "" {
		head["Content-ID"] = []string{w.id}
	}
	part, _ := a.parts.CreatePart(head) // into memory
	w.header.Del("Date")
	io.WriteString(part, "HTTP/1.1 "+strconv.Itoa(w.status)+" "+http.StatusText(w.status)+"\r\n")
	for name, values := range w.header {
		for _, value := range values {
			io.WriteString(part, strings.ToLower(name)+": "+value+"\r\n")
		}
	}
	io.WriteString(part, "\r\n")
	part.Write(w.body.Bytes())
}

func (a *batchAnswer) close() []byte {
	a.parts.Close()
	return a.text.Bytes()
}
