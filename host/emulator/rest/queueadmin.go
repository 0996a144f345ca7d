package rest

import (
	"context"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings/storage"
)

// queueLetters are the permissions of a policy for a queue: read, add, update,
// process.
const queueLetters = "raup"

func createQueue(c *call) error {
	metadata, refused := c.metadata()
	if refused != nil {
		return refused
	}
	var created bool
	err := c.inside(func(ctx context.Context) (err error) {
		created, err = c.account.QueueAdmin.CreateQueue(ctx, c.path[0], metadata)
		return err
	})
	switch {
	case err != nil:
		return err
	case created:
		return c.answer(http.StatusCreated, nil)
	}
	return c.answer(http.StatusNoContent, nil)
}

func deleteQueue(c *call) error {
	return c.noContent(func(ctx context.Context) error {
		err := c.account.QueueAdmin.DeleteQueue(ctx, c.path[0])
		c.unpinQueue(err)
		return err
	})
}

func getQueueMetadata(c *call) error {
	var metadata map[string]string
	var count int
	err := c.inside(func(ctx context.Context) (err error) {
		if metadata, err = c.account.QueueAdmin.QueueMetadata(ctx, c.path[0]); err != nil {
			return err
		}
		count, err = c.account.Queues.Queue(c.path[0]).Count(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.headers().metadata(metadata)
	c.w.Header().Set("X-Ms-Approximate-Messages-Count", strconv.Itoa(count))
	return c.answer(http.StatusOK, nil)
}

func setQueueMetadata(c *call) error {
	metadata, refused := c.metadata()
	if refused != nil {
		return refused
	}
	return c.noContent(func(ctx context.Context) error {
		return c.account.QueueAdmin.SetQueueMetadata(ctx, c.path[0], metadata)
	})
}

func getQueueACL(c *call) error {
	var policies []storage.AccessPolicy
	err := c.inside(func(ctx context.Context) (err error) {
		policies, err = c.account.QueueAdmin.QueuePolicies(ctx, c.path[0])
		return err
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, policiesDocument(policies))
}

func setQueueACL(c *call) error {
	b, err := c.body(maxDocument)
	if err != nil {
		return err
	}
	policies, refused := parsePolicies(b, queueLetters)
	if refused != nil {
		return refused
	}
	return c.noContent(func(ctx context.Context) error {
		return c.account.QueueAdmin.SetQueuePolicies(ctx, c.path[0], policies)
	})
}

func getQueueProperties(c *call) error {
	var p storage.ServiceProperties
	err := c.inside(func(ctx context.Context) (err error) {
		p, err = c.account.QueueAdmin.QueueServiceProperties(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, propertiesDocument(p))
}

func setQueueProperties(c *call) error {
	b, err := c.body(maxDocument)
	if err != nil {
		return err
	}
	p, refused := parseProperties(b)
	if refused != nil {
		return refused
	}
	err = c.inside(func(ctx context.Context) error { return c.account.QueueAdmin.SetQueueServiceProperties(ctx, p) })
	if err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, nil)
}

// getQueueStats tells that the secondary is up to date: it is the primary.
func getQueueStats(c *call) error {
	if !c.secondary {
		return errInvalidParameter("comp", "stats", "Statistics are on the secondary.")
	}
	b := []byte(xmlHeader + "<StorageServiceStats><GeoReplication>")
	b = appendElement(b, "Status", "live")
	b = appendElement(b, "LastSyncTime", wireTime(c.front.clk.Now()))
	return c.answer(http.StatusOK, append(b, "</GeoReplication></StorageServiceStats>"...))
}

// noContent runs f in the clock and answers 204.
func (c *call) noContent(f func(ctx context.Context) error) error {
	if err := c.inside(f); err != nil {
		return err
	}
	return c.answer(http.StatusNoContent, nil)
}
