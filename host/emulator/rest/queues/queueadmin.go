package queues

import (
	"context"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// queueLetters are the permissions of a policy for a queue: read, add, update,
// process.
const queueLetters = "raup"

func createQueue(c *rest.Call) error {
	metadata, refused := c.Metadata()
	if refused != nil {
		return refused
	}
	var created bool
	err := c.Inside(func(ctx context.Context) (err error) {
		created, err = c.Account.QueueAdmin.CreateQueue(ctx, c.Path[0], metadata)
		return err
	})
	switch {
	case err != nil:
		return err
	case created:
		return c.Answer(http.StatusCreated, nil)
	}
	return c.Answer(http.StatusNoContent, nil)
}

func deleteQueue(c *rest.Call) error {
	return c.NoContent(func(ctx context.Context) error {
		err := c.Account.QueueAdmin.DeleteQueue(ctx, c.Path[0])
		unpinQueue(c, err)
		return err
	})
}

func getQueueMetadata(c *rest.Call) error {
	var metadata map[string]string
	var count int
	err := c.Inside(func(ctx context.Context) (err error) {
		if metadata, err = c.Account.QueueAdmin.QueueMetadata(ctx, c.Path[0]); err != nil {
			return err
		}
		count, err = c.Account.Queues.Queue(c.Path[0]).Count(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.Headers().Metadata(metadata)
	c.W.Header().Set("X-Ms-Approximate-Messages-Count", strconv.Itoa(count))
	return c.Answer(http.StatusOK, nil)
}

func setQueueMetadata(c *rest.Call) error {
	metadata, refused := c.Metadata()
	if refused != nil {
		return refused
	}
	return c.NoContent(func(ctx context.Context) error {
		return c.Account.QueueAdmin.SetQueueMetadata(ctx, c.Path[0], metadata)
	})
}

func getQueueACL(c *rest.Call) error {
	var policies []storage.AccessPolicy
	err := c.Inside(func(ctx context.Context) (err error) {
		policies, err = c.Account.QueueAdmin.QueuePolicies(ctx, c.Path[0])
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, rest.PoliciesDocument(policies))
}

func setQueueACL(c *rest.Call) error {
	b, err := c.Body(rest.MaxDocument)
	if err != nil {
		return err
	}
	policies, refused := rest.ParsePolicies(b, queueLetters)
	if refused != nil {
		return refused
	}
	return c.NoContent(func(ctx context.Context) error {
		return c.Account.QueueAdmin.SetQueuePolicies(ctx, c.Path[0], policies)
	})
}

func getQueueProperties(c *rest.Call) error {
	var p storage.ServiceProperties
	err := c.Inside(func(ctx context.Context) (err error) {
		p, err = c.Account.QueueAdmin.QueueServiceProperties(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, rest.PropertiesDocument(p))
}

func setQueueProperties(c *rest.Call) error {
	b, err := c.Body(rest.MaxDocument)
	if err != nil {
		return err
	}
	p, refused := rest.ParseProperties(b)
	if refused != nil {
		return refused
	}
	err = c.Inside(func(ctx context.Context) error { return c.Account.QueueAdmin.SetQueueServiceProperties(ctx, p) })
	if err != nil {
		return err
	}
	return c.Answer(http.StatusAccepted, nil)
}
