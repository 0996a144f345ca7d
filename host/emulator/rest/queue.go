package rest

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/storage"
)

// resource is the thing that an address names, with the parameters that choose
// among the operations on it.
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

// queueService is the Queue service: its operations, and what signatures must
// allow for each.
//
// Source: docs, Create an account SAS ("Queue service"), Create a service SAS
// ("Permissions for a queue"). For changes of a single message and Clear
// Messages the page asks for resource type o and Azurite for c: either will do.
func queueService() *service {
	table := map[verb]*operation{
		{queueList, http.MethodGet}:       {name: "ListQueues", resource: "s", accountSAS: "l", run: listQueues},
		{queueProperties, http.MethodGet}: {name: "GetServiceProperties", resource: "s", accountSAS: "r", run: getQueueProperties},
		{queueProperties, http.MethodPut}: {name: "SetServiceProperties", write: true, resource: "s", accountSAS: "w", run: setQueueProperties},
		{queueStats, http.MethodGet}:      {name: "GetServiceStats", resource: "s", accountSAS: "r", run: getQueueStats},

		{oneQueue, http.MethodPut}:       {name: "CreateQueue", write: true, resource: "c", accountSAS: "cw", run: createQueue},
		{oneQueue, http.MethodDelete}:    {name: "DeleteQueue", write: true, resource: "c", accountSAS: "d", run: deleteQueue},
		{queueMetadata, http.MethodGet}:  {name: "GetQueueMetadata", resource: "c", accountSAS: "r", serviceSAS: "r", run: getQueueMetadata},
		{queueMetadata, http.MethodHead}: {name: "GetQueueMetadata", resource: "c", accountSAS: "r", serviceSAS: "r", run: getQueueMetadata},
		{queueMetadata, http.MethodPut}:  {name: "SetQueueMetadata", write: true, resource: "c", accountSAS: "w", run: setQueueMetadata},
		{queueACL, http.MethodGet}:       {name: "GetQueueACL", resource: "c", run: getQueueACL},
		{queueACL, http.MethodHead}:      {name: "GetQueueACL", resource: "c", run: getQueueACL},
		{queueACL, http.MethodPut}:       {name: "SetQueueACL", write: true, resource: "c", run: setQueueACL},

		{queueMessages, http.MethodGet}:    {name: "GetMessages", write: true, resource: "o", accountSAS: "p", serviceSAS: "p", run: getMessages},
		{queuePeek, http.MethodGet}:        {name: "PeekMessages", resource: "o", accountSAS: "r", serviceSAS: "r", run: peekMessages},
		{queueMessages, http.MethodPost}:   {name: "PutMessage", write: true, resource: "o", accountSAS: "a", serviceSAS: "a", run: putMessage},
		{queueMessages, http.MethodDelete}: {name: "ClearMessages", write: true, resource: "oc", accountSAS: "d", run: clearMessages},
		{oneMessage, http.MethodPut}:       {name: "UpdateMessage", write: true, resource: "oc", accountSAS: "u", serviceSAS: "u", run: updateMessage},
		{oneMessage, http.MethodDelete}:    {name: "DeleteMessage", write: true, resource: "oc", accountSAS: "p", serviceSAS: "p", run: deleteMessage},
	}
	return &service{
		name:   "queue",
		letter: 'q',
		route: func(c *call) (*operation, *Error) {
			on, refused := queueResource(c)
			if refused != nil {
				return nil, refused
			}
			if op := table[verb{on, c.r.Method}]; op != nil {
				return op, nil
			}
			return nil, errVerb()
		},
		properties: func(ctx context.Context, a *account) (storage.ServiceProperties, error) {
			return a.QueueAdmin.QueueServiceProperties(ctx)
		},
		serviceSAS: queueSASText,
		policy: func(ctx context.Context, c *call, id string) (*storage.AccessPolicy, error) {
			policies, err := c.account.QueueAdmin.QueuePolicies(ctx, c.path[0])
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
func queueResource(c *call) (resource, *Error) {
	comp := strings.ToLower(c.query.Get("comp"))
	if len(c.path) > 0 {
		if err := checkQueueName(c.path[0]); err != nil {
			return "", err
		}
	}
	switch {
	case len(c.path) == 0 && comp == "list":
		return queueList, nil
	case len(c.path) == 0 && comp == "properties":
		return queueProperties, nil
	case len(c.path) == 0 && comp == "stats":
		return queueStats, nil
	case len(c.path) == 1 && comp == "":
		return oneQueue, nil
	case len(c.path) == 1 && comp == "metadata":
		return queueMetadata, nil
	case len(c.path) == 1 && comp == "acl":
		return queueACL, nil
	case len(c.path) < 2:
		return "", errInvalidParameter("comp", c.query.Get("comp"), "No operation has this value.")
	case len(c.path) > 3 || !strings.EqualFold(c.path[1], "messages"):
		return "", errResourceNotFound()
	case len(c.path) == 3:
		return oneMessage, nil
	case c.r.Method == http.MethodGet && strings.EqualFold(c.query.Get("peekonly"), "true"):
		return queuePeek, nil
	}
	return queueMessages, nil
}

func checkQueueName(name string) *Error {
	err := queue.ValidateName(name)
	switch {
	case err == nil:
		return nil
	case len(name) < 3 || len(name) > 63:
		return newError(http.StatusBadRequest, "OutOfRangeInput", "The specified resource name length is not within the permissible limits.", "Reason", err.Error())
	}
	return newError(http.StatusBadRequest, "InvalidResourceName", "The specified resource name contains invalid characters.", "Reason", err.Error())
}

// queueSASText returns the string to sign of a service signature for a queue
// (docs: Create a service SAS, version 2015-04-05 and later).
func queueSASText(c *call) string {
	s := c.sas()
	lines := append(s.fields("sp", "st", "se"), "/queue/"+c.account.Name+"/"+c.path[0])
	return strings.Join(append(lines, s.fields("si", "sip", "spr", "sv")...), "\n")
}

// number reads a parameter that is a whole number within limits; absent, it is
// def.
func (p parameters) number(name string, def, least, most int64) (int64, *Error) {
	if !p.Has(name) {
		return def, nil
	}
	text := p.Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errInvalidParameter(name, text, "The value is not a whole number.")
	}
	if n < least || n > most {
		return 0, errOutOfRangeParameter(name, text, least, most)
	}
	return n, nil
}
