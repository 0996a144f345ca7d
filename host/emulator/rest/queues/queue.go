package queues

import (
	"context"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// resource is the thing that an address names, with the parameters that choose among the
// operations on it.
type resource string

const (
	queueList       resource = "list"
	queueProperties resource = "service properties"
	queueStats      resource = "service stats"
	oneQueue        resource = "queue"
	queueMetadata   resource = "queue metadata"
	queueACL        resource = "queue acl"
	queueMessages   resource = "messages"
	queuePeek       resource = "messages to peek at"
	oneMessage      resource = "message"
)

type verb struct {
	on     resource
	method string
}

// Service is the Queue service: its operations, and what signatures must
// allow for each.
//
// Source: docs, Create an account SAS ("Queue service"), Create a service SAS
// ("Permissions for a queue"). For changes of a single message and Clear
// Messages the page asks for resource type o and Azurite for c: either will do.
func Service() *rest.Service {
	table := map[verb]*rest.Operation{
		{queueList, http.MethodGet}:       {Name: "ListQueues", Resource: "s", AccountSAS: "l", Run: listQueues},
		{queueProperties, http.MethodGet}: {Name: "GetServiceProperties", Resource: "s", AccountSAS: "r", Run: getQueueProperties},
		{queueProperties, http.MethodPut}: {Name: "SetServiceProperties", Write: true, Resource: "s", AccountSAS: "w", Run: setQueueProperties},
		{queueStats, http.MethodGet}:      {Name: "GetServiceStats", Resource: "s", AccountSAS: "r", Run: rest.GetStats},

		{oneQueue, http.MethodPut}:       {Name: "CreateQueue", Write: true, Resource: "c", AccountSAS: "cw", Run: createQueue},
		{oneQueue, http.MethodDelete}:    {Name: "DeleteQueue", Write: true, Resource: "c", AccountSAS: "d", Run: deleteQueue},
		{queueMetadata, http.MethodGet}:  {Name: "GetQueueMetadata", Resource: "c", AccountSAS: "r", ServiceSAS: "r", Run: getQueueMetadata},
		{queueMetadata, http.MethodHead}: {Name: "GetQueueMetadata", Resource: "c", AccountSAS: "r", ServiceSAS: "r", Run: getQueueMetadata},
		{queueMetadata, http.MethodPut}:  {Name: "SetQueueMetadata", Write: true, Resource: "c", AccountSAS: "w", Run: setQueueMetadata},
		{queueACL, http.MethodGet}:       {Name: "GetQueueACL", Resource: "c", Run: getQueueACL},
		{queueACL, http.MethodHead}:      {Name: "GetQueueACL", Resource: "c", Run: getQueueACL},
		{queueACL, http.MethodPut}:       {Name: "SetQueueACL", Write: true, Resource: "c", Run: setQueueACL},

		{queueMessages, http.MethodGet}:    {Name: "GetMessages", Write: true, Resource: "o", AccountSAS: "p", ServiceSAS: "p", Run: getMessages},
		{queuePeek, http.MethodGet}:        {Name: "PeekMessages", Resource: "o", AccountSAS: "r", ServiceSAS: "r", Run: peekMessages},
		{queueMessages, http.MethodPost}:   {Name: "PutMessage", Write: true, Resource: "o", AccountSAS: "a", ServiceSAS: "a", Run: putMessage},
		{queueMessages, http.MethodDelete}: {Name: "ClearMessages", Write: true, Resource: "oc", AccountSAS: "d", Run: clearMessages},
		{oneMessage, http.MethodPut}:       {Name: "UpdateMessage", Write: true, Resource: "oc", AccountSAS: "u", ServiceSAS: "u", Run: updateMessage},
		{oneMessage, http.MethodDelete}:    {Name: "DeleteMessage", Write: true, Resource: "oc", AccountSAS: "p", ServiceSAS: "p", Run: deleteMessage},
	}
	return &rest.Service{
		Name:     "queue",
		Letter:   'q',
		Endpoint: "QueueEndpoint",
		Port:     func(o *rest.Options) int { return o.QueuePort },
		Serves:   func(a *rest.Account) bool { return a.Queues != nil && a.QueueAdmin != nil },
		Failures: failures,
		Route: func(c *rest.Call) (*rest.Operation, *rest.Error) {
			on, refused := queueResource(c)
			if refused != nil {
				return nil, refused
			}
			if op := table[verb{on, c.R.Method}]; op != nil {
				return op, nil
			}
			return nil, rest.ErrVerb()
		},
		Properties: func(ctx context.Context, a *rest.Stored) (storage.ServiceProperties, error) {
			return a.QueueAdmin.QueueServiceProperties(ctx)
		},
		ServiceSAS: queueSASText,
		Policy: func(ctx context.Context, c *rest.Call, id string) (*storage.AccessPolicy, error) {
			policies, err := c.Account.QueueAdmin.QueuePolicies(ctx, c.Path[0])
			for i := range policies {
				if policies[i].ID == id {
					return &policies[i], nil
				}
			}
			return nil, err
		},
	}
}

// queueResource says what an address of the Queue service names.
func queueResource(c *rest.Call) (resource, *rest.Error) {
	comp := strings.ToLower(c.Query.Get("comp"))
	if len(c.Path) > 0 {
		if err := checkQueueName(c.Path[0]); err != nil {
			return "", err
		}
	}
	switch {
	case len(c.Path) == 0 && comp == "list":
		return queueList, nil
	case len(c.Path) == 0 && comp == "properties":
		return queueProperties, nil
	case len(c.Path) == 0 && comp == "stats":
		return queueStats, nil
	case len(c.Path) == 1 && comp == "":
		return oneQueue, nil
	case len(c.Path) == 1 && comp == "metadata":
		return queueMetadata, nil
	case len(c.Path) == 1 && comp == "acl":
		return queueACL, nil
	case len(c.Path) < 2:
		return "", rest.ErrInvalidParameter("comp", c.Query.Get("comp"), "No operation has this value.")
	case len(c.Path) > 3 || !strings.EqualFold(c.Path[1], "messages"):
		return "", rest.ErrResourceNotFound()
	case len(c.Path) == 3:
		return oneMessage, nil
	case c.R.Method == http.MethodGet && strings.EqualFold(c.Query.Get("peekonly"), "true"):
		return queuePeek, nil
	}
	return queueMessages, nil
}

func checkQueueName(name string) *rest.Error {
	err := queue.ValidateName(name)
	switch {
	case err == nil:
		return nil
	case len(name) < 3 || len(name) > 63:
		return rest.NewError(http.StatusBadRequest, "OutOfRangeInput", "The specified resource name length is not within the permissible limits.", "Reason", err.Error())
	}
	return rest.NewError(http.StatusBadRequest, "InvalidResourceName", "The specified resource name contains invalid characters.", "Reason", err.Error())
}

// queueSASText returns the string to sign of a service signature for a queue
// (docs: Create a service SAS, version 2015-04-05 and later).
func queueSASText(c *rest.Call) string {
	s := c.Signature()
	lines := append(s.Fields("sp", "st", "se"), "/queue/"+c.Account.Name+"/"+c.Path[0])
	return strings.Join(append(lines, s.Fields("si", "sip", "spr", "sv")...), "\n")
}

// failures are the words of the service.
//
// Source: docs, Queue Service error codes.
var failures = []rest.Failure{ // read only
	{Is: bindings.ErrNotFound, Status: http.StatusNotFound, Code: "QueueNotFound", Message: "The specified queue does not exist."},
	{Is: bindings.ErrAlreadyExists, Status: http.StatusConflict, Code: "QueueAlreadyExists", Message: "The specified queue already exists."},
	{Is: bindings.ErrBeingDeleted, Status: http.StatusConflict, Code: "QueueBeingDeleted", Message: "The specified queue is being deleted."},
	{Is: bindings.ErrMessageNotFound, Status: http.StatusNotFound, Code: "MessageNotFound", Message: "The specified message does not exist."},
	{Is: queue.ErrPopReceiptMismatch, Status: http.StatusBadRequest, Code: "PopReceiptMismatch", Message: "The specified pop receipt did not match the pop receipt for a dequeued message."},
}
