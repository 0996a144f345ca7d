package queue

import (
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
)

// Model is a message, whose decoded body is body, as model binding data. Times that the
// service leaves out are left out.
//
// Source: StorageQueueMessageToParameterBindingDataConverter.cs; spec workers-dotnet-java 1.8.
func Model(m *queue.Message, body []byte) bindings.Value {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05-07:00")
	}
	return bindings.ModelValue("AzureStorageQueues", struct {
		MessageId, PopReceipt, MessageText   string //nolint:revive // the platform's names
		DequeueCount                         int64
		NextVisibleOn, InsertedOn, ExpiresOn string `json:",omitempty"`
	}{
		m.ID, m.PopReceipt, strings.ToValidUTF8(string(body), "\uFFFD"), m.DequeueCount,
		at(m.NextVisible), at(m.Inserted), at(m.Expires),
	})
}
