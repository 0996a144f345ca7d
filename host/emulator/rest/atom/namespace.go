package atom

import "net/http"

func getNamespace(c *call) error {
	return c.answerEntry(http.StatusOK, described{
		path: "$namespaceinfo", title: c.opts.Namespace, created: c.created, updated: c.created, root: "NamespaceInfo",
		write: func(w *writer) {
			w.time("CreatedTime", c.created)
			w.field("MessagingSKU", "Standard")
			w.time("ModifiedTime", c.created)
			w.field("Name", c.opts.Namespace)
			w.field("NamespaceType", "Messaging")
		},
	})
}
