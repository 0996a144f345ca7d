package control

import (
	"io"

	"github.com/redeliver/redeliver/host/web/api"
)

// Upload makes the body a blob, and the container when it is missing.
type Upload struct {
	api.Op[BlobInfo] `route:"PUT /containers/{container}/blob" status:"201" needs:"storage" limit:"-1"`

	Container   string    `path:"container"`
	Name        string    `query:"name,required"`
	Create      bool      `query:"create"`        // make the container though its name is near to another one
	ContentType string    `header:"Content-Type"` // of the blob
	Body        io.Reader `body:"raw"`
}

// BlobInfo is a blob of the embedded storage account.
type BlobInfo struct {
	Container   string `json:"container"`
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	ContentType string `json:"contentType"`
	ETag        string `json:"etag"`
}

// Download is the bytes of a blob; the header X-Redeliver-Content-Type has its content
// type.
type Download struct {
	api.Op[api.Stream] `route:"GET /containers/{container}/blob" needs:"storage"`

	Container string `path:"container"`
	Name      string `query:"name,required"`
}

// ContainerInfo is a blob container of the embedded storage account.
type ContainerInfo struct {
	Name  string `json:"name"`
	Blobs int    `json:"blobs"` // snapshots and uncommitted blobs do not count
	Bytes int64  `json:"bytes"` // of these blobs
}
