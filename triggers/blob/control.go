package blob

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/redeliver/redeliver/bindings/queue"
)

// controlMessage is a message of the control queue, and of the poison queue: one
// version of one blob for one function. The order of the fields is the
// platform's (source: BlobTriggerMessage.cs).
type controlMessage struct {
	Type          string `json:"Type,omitempty"`
	FunctionID    string `json:"FunctionId,omitempty"`
	BlobType      string `json:"BlobType"`
	ContainerName string `json:"ContainerName,omitempty"`
	BlobName      string `json:"BlobName,omitempty"`
	ETag          string `json:"ETag,omitempty"`
}

const controlType = "BlobTrigger"

// encode returns the message as JSON, indented as the platform's library does.
func (m *controlMessage) encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		panic(err) // plain texts have a JSON form
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// The platform's texts (source: BlobQueueTriggerExecutor.cs).
var (
	//lint:ignore ST1005 the platform's text
	errInvalidMessage = errors.New("Invalid blob trigger message.")
	//lint:ignore ST1005 the platform's text
	errInvalidFunction = errors.New("Invalid function ID.")
)

// decodeControl reads a message of the control queue.
func decodeControl(body []byte) (*controlMessage, error) {
	var m *controlMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errInvalidMessage
	}
	// An empty name is the name of an unknown function (source: BlobQueueTriggerExecutor.cs).
	var named struct {
		FunctionID *string `json:"FunctionId"`
	}
	if err := json.Unmarshal(body, &named); err != nil || named.FunctionID == nil {
		return nil, errInvalidFunction
	}
	return m, nil
}

// Poison is what a message of [PoisonQueue], or of a control queue, is about: one version
// of one blob for one function.
type Poison struct {
	FunctionID      string // app.FunctionID
	Container, Blob string
	ETag            string
}

// ReadPoison reads the decoded text of such a message.
func ReadPoison(body []byte) (Poison, error) {
	m, err := decodeControl(body)
	if err != nil {
		return Poison{}, err
	}
	return Poison{m.FunctionID, m.ContainerName, m.BlobName, m.ETag}, nil
}

// Concurrency returns the options of the control queue's listener for
// maxDegreeOfParallelism, 1 or more: the size of a batch, and the number of
// messages in work at or below which the next is taken (spec storage 7).
//
// Source: SharedBlobQueueListenerFactory.cs.
func Concurrency(maxDegreeOfParallelism int) (batchSize, newBatchThreshold int) {
	batchSize = min(queue.MaxReceive, maxDegreeOfParallelism/2+1)
	if maxDegreeOfParallelism == 1 {
		batchSize = 1
	}
	return batchSize, maxDegreeOfParallelism - batchSize
}
