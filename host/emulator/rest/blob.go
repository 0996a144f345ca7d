package rest

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// The Blob service. Its operations are in the files named blob...:
//
//	GET    /?comp=list                                     bloblist.go
//	GET    /?restype=service&comp=properties  (PUT)        blobservice.go
//	GET    /?restype=service&comp=stats       (secondary)
//	GET    /?restype=account&comp=properties  (HEAD)
//	PUT    /container?restype=container  (GET HEAD DELETE) blobcontainer.go
//	GET    /container?restype=container&comp=metadata  (HEAD PUT)
//	GET    /container?restype=container&comp=acl       (HEAD PUT)
//	GET    /container?restype=container&comp=list          bloblist.go
//	PUT    /container?restype=container&comp=lease         bloblease.go
//	GET    /container/blob  (HEAD)                         blobget.go
//	GET    /container/blob?comp=metadata  (HEAD)
//	PUT    /container/blob                                 blobput.go
//	PUT    /container/blob?comp=metadata
//	PUT    /container/blob?comp=properties
//	DELETE /container/blob
//	PUT    /container/blob?comp=block                      blobblocks.go
//	PUT    /container/blob?comp=blocklist  (GET)
//	PUT    /container/blob?comp=appendblock
//	PUT    /container/blob?comp=seal
//	PUT    /container/blob?comp=page                       blobpages.go
//	GET    /container/blob?comp=pagelist
//	PUT    /container/blob?comp=lease                      bloblease.go
//	PUT    /container/blob?comp=snapshot                   blobcopy.go
//	PUT    /container/blob            with x-ms-copy-source
//	PUT    /container/blob?comp=copy
//	PUT    /container/blob?comp=tier                       blobtier.go
//	PUT    /container/blob?comp=tags  (GET)                blobtags.go
//	POST   /?restype=service&comp=userdelegationkey        delegation.go
//	POST   /?comp=batch                                    blobbatch.go
//	POST   /container?restype=container&comp=batch
//	GET    /?comp=blobs
//	GET    /container?restype=container&comp=blobs
//
// Undelete, queries, incremental copies, and what notoffered.go names are answered with 501 NotImplemented; a copy from elsewhere with 404
// CannotVerifyCopySource. Writes from URLs read this server and others on the same
// machine.
//
// Reference: docs, Blob Service REST API; Azurite for what it leaves open.

// resource is the thing that an address names, with the parameters that choose
// among the operations on it.
type resource string

type verb struct {
	on     resource
	method string
}

const (
	blobContainers    resource = "containers"
	blobProperties    resource = "blob service properties"
	blobStats         resource = "blob service stats"
	blobAccountInfo   resource = "account"
	oneContainer      resource = "container"
	containerMetadata resource = "container metadata"
	containerACL      resource = "container acl"
	containerLease    resource = "container lease"
	containerBlobs    resource = "blobs"
	oneBlob           resource = "blob"
	blobHeaders       resource = "blob properties"
	blobMetadata      resource = "blob metadata"
	blobLease         resource = "blob lease"
	blobSnapshot      resource = "blob snapshot"
	blobBlock         resource = "block"
	blobBlockList     resource = "block list"
	blobAppend        resource = "appended block"
	blobCopy          resource = "blob copy"
	blobTier          resource = "blob tier"
	blobTags          resource = "blob tags"
	blobSeal          resource = "blob seal"
	blobPage          resource = "page"
	blobPages         resource = "page ranges"
	delegation        resource = "user delegation key"
	accountBatch      resource = "batch"
	containerBatch    resource = "batch of a container"
	taggedBlobs       resource = "blobs by tags"
	taggedInContainer resource = "blobs of a container by tags"
	notOffered        resource = "not offered"
)

// anyLetter are the permissions of signatures.
const anyLetter = containerLetters + "cup"

// rootContainer holds the blobs whose address has no container.
const rootContainer = "$root"

// The operations of the Blob service, and what signatures must allow for each: on the
// account, or on what an account and a container have alike; on a container; on a blob.
//
// Source: docs, Create an account SAS ("Blob service"), Create a service SAS
// ("Permissions for a directory, container, or blob"); that a right to create is
// enough for blocks, azure-storage-blob for Python 12.31.1, test_commit_block_list_uds
// and test_stage_block_from_url_uds.
func accountOperations() map[verb]*Operation {
	return map[verb]*Operation{
		{blobContainers, http.MethodGet}:   {Name: "ListContainers", Resource: "s", AccountSAS: "l", Run: listContainers},
		{blobProperties, http.MethodGet}:   {Name: "GetBlobServiceProperties", Resource: "s", AccountSAS: "r", Run: getBlobServiceProperties},
		{blobProperties, http.MethodPut}:   {Name: "SetBlobServiceProperties", Write: true, Resource: "s", AccountSAS: "w", Run: setBlobServiceProperties},
		{blobStats, http.MethodGet}:        {Name: "GetBlobServiceStats", Resource: "s", AccountSAS: "r", Run: GetStats},
		{blobAccountInfo, http.MethodGet}:  {Name: "GetAccountInformation", Resource: "sco", AccountSAS: "racwdl", ServiceSAS: "racwdl", Run: getAccountInformation},
		{blobAccountInfo, http.MethodHead}: {Name: "GetAccountInformation", Resource: "sco", AccountSAS: "racwdl", ServiceSAS: "racwdl", Run: getAccountInformation},
		{delegation, http.MethodPost}:      {Name: "GetUserDelegationKey", Resource: "s", byToken: true, Run: getDelegationKey},

		// The requests in a batch check the rights of a signature.
		{accountBatch, http.MethodPost}:   {Name: "SubmitBatch", Write: true, Resource: "sco", AccountSAS: anyLetter, Run: submitBatch},
		{containerBatch, http.MethodPost}: {Name: "SubmitContainerBatch", Write: true, Resource: "sco", AccountSAS: anyLetter, ServiceSAS: anyLetter, Run: submitBatch},

		{taggedBlobs, http.MethodGet}:       {Name: "FindBlobsByTags", Resource: "o", AccountSAS: "f", Run: findBlobs},
		{taggedInContainer, http.MethodGet}: {Name: "FindBlobsByTagsInContainer", Resource: "o", AccountSAS: "f", ServiceSAS: "f", Run: findBlobs},
	}
}

func containerOperations() map[verb]*Operation {
	return map[verb]*Operation{
		{oneContainer, http.MethodPut}:       {Name: "CreateContainer", Write: true, Resource: "c", AccountSAS: "cw", Run: createContainer},
		{oneContainer, http.MethodGet}:       {Name: "GetContainerProperties", Resource: "c", AccountSAS: "r", public: blob.PublicContainer, Run: getContainerProperties},
		{oneContainer, http.MethodHead}:      {Name: "GetContainerProperties", Resource: "c", AccountSAS: "r", public: blob.PublicContainer, Run: getContainerProperties},
		{oneContainer, http.MethodDelete}:    {Name: "DeleteContainer", Write: true, Resource: "c", AccountSAS: "d", Run: deleteContainer},
		{containerMetadata, http.MethodGet}:  {Name: "GetContainerMetadata", Resource: "c", AccountSAS: "r", public: blob.PublicContainer, Run: getContainerMetadata},
		{containerMetadata, http.MethodHead}: {Name: "GetContainerMetadata", Resource: "c", AccountSAS: "r", public: blob.PublicContainer, Run: getContainerMetadata},
		{containerMetadata, http.MethodPut}:  {Name: "SetContainerMetadata", Write: true, Resource: "c", AccountSAS: "w", Run: setContainerMetadata},
		{containerACL, http.MethodGet}:       {Name: "GetContainerACL", Resource: "c", Run: getContainerACL},
		{containerACL, http.MethodHead}:      {Name: "GetContainerACL", Resource: "c", Run: getContainerACL},
		{containerACL, http.MethodPut}:       {Name: "SetContainerACL", Write: true, Resource: "c", Run: setContainerACL},
		{containerLease, http.MethodPut}:     {Name: "LeaseContainer", Write: true, Resource: "c", AccountSAS: "wd", Run: leaseContainer},
		{containerBlobs, http.MethodGet}:     {Name: "ListBlobs", Resource: "c", AccountSAS: "l", ServiceSAS: "l", public: blob.PublicContainer, Run: listBlobs},
	}
}

func blobOperations() map[verb]*Operation {
	return map[verb]*Operation{
		{oneBlob, http.MethodGet}:       {Name: "GetBlob", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs, Run: getBlob},
		{oneBlob, http.MethodHead}:      {Name: "GetBlobProperties", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs, Run: getBlobProperties},
		{oneBlob, http.MethodPut}:       {Name: "PutBlob", Write: true, Resource: "o", AccountSAS: "cw", ServiceSAS: "cw", Run: putBlob},
		{oneBlob, http.MethodDelete}:    {Name: "DeleteBlob", Write: true, Resource: "o", AccountSAS: "d", ServiceSAS: "d", Run: deleteBlob},
		{blobHeaders, http.MethodPut}:   {Name: "SetBlobProperties", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "w", Run: setBlobProperties},
		{blobMetadata, http.MethodGet}:  {Name: "GetBlobMetadata", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs, Run: getBlobMetadata},
		{blobMetadata, http.MethodHead}: {Name: "GetBlobMetadata", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs, Run: getBlobMetadata},
		{blobMetadata, http.MethodPut}:  {Name: "SetBlobMetadata", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "w", Run: setBlobMetadata},
		{blobLease, http.MethodPut}:     {Name: "LeaseBlob", Write: true, Resource: "o", AccountSAS: "wd", ServiceSAS: "wd", Run: leaseBlob},
		{blobSnapshot, http.MethodPut}:  {Name: "SnapshotBlob", Write: true, Resource: "o", AccountSAS: "cw", ServiceSAS: "cw", Run: snapshotBlob},
		{blobBlock, http.MethodPut}:     {Name: "PutBlock", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "cw", Run: putBlock},
		{blobBlockList, http.MethodPut}: {Name: "PutBlockList", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "cw", Run: putBlockList},
		{blobBlockList, http.MethodGet}: {Name: "GetBlockList", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs, Run: getBlockList},
		{blobAppend, http.MethodPut}:    {Name: "AppendBlock", Write: true, Resource: "o", AccountSAS: "aw", ServiceSAS: "aw", Run: appendBlock},
		{blobCopy, http.MethodPut}:      {Name: "AbortCopyBlob", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "w", Run: abortCopy},
		{blobTier, http.MethodPut}:      {Name: "SetBlobTier", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "w", Run: setBlobTier},
		{blobSeal, http.MethodPut}:      {Name: "SealBlob", Write: true, Resource: "o", AccountSAS: "aw", ServiceSAS: "aw", Run: sealBlob},
		{blobPage, http.MethodPut}:      {Name: "PutPage", Write: true, Resource: "o", AccountSAS: "w", ServiceSAS: "w", Run: putPage},
		{blobPages, http.MethodGet}:     {Name: "GetPageRanges", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs, Run: getPageRanges},
		{blobTags, http.MethodPut}:      {Name: "SetBlobTags", Write: true, Resource: "o", AccountSAS: "t", ServiceSAS: "t", Run: setBlobTags},
		{blobTags, http.MethodGet}:      {Name: "GetBlobTags", Resource: "o", AccountSAS: "t", ServiceSAS: "t", Run: getBlobTags},
	}
}

// BlobService is the Blob service.
func BlobService() *Service {
	table := accountOperations()
	maps.Copy(table, containerOperations())
	maps.Copy(table, blobOperations())
	for _, op := range table {
		run := op.Run
		op.Run = func(c *Call) error {
			err := run(c)
			if err != nil {
				c.in.Skip(lingering)
			}
			return err
		}
	}
	return &Service{
		Name:     "blob",
		Letter:   'b',
		Endpoint: "BlobEndpoint",
		Port:     func(o *Options) int { return o.BlobPort },
		Serves:   func(a *Account) bool { return a.Blobs != nil },
		Optional: true,
		Route: func(c *Call) (*Operation, *Error) {
			on, refused := blobResource(c)
			if refused != nil {
				return nil, refused
			}
			if on == notOffered {
				return nil, errNotOffered("QueryParameterValue", c.Query.Get("comp"))
			}
			if refused := checkOffered(c); refused != nil {
				return nil, refused
			}
			if op := table[verb{on, c.R.Method}]; op != nil {
				return op, nil
			}
			return nil, ErrVerb()
		},
		Properties: func(ctx context.Context, a *Stored) (storage.ServiceProperties, error) {
			p, err := a.Blobs.BlobServiceProperties(ctx)
			if err != nil {
				return storage.ServiceProperties{}, err
			}
			return *p, nil
		},
		ServiceSAS: blobSASText,
		SASKind:    blobSASKind,
		Policy: func(ctx context.Context, c *Call, id string) (*storage.AccessPolicy, error) {
			access, err := c.container().Access(ctx, nil)
			if err != nil {
				return nil, err
			}
			for i := range access.Policies {
				if access.Policies[i].ID == id {
					return &access.Policies[i], nil
				}
			}
			return nil, nil
		},
	}
}

// blobResource says what an address of the Blob service names, and makes c.path
// of it: nothing, a container, or a container and a blob.
func blobResource(c *Call) (resource, *Error) {
	container, name, refused := splitBlobPath(c.R.URL, c.inHost)
	if refused != nil {
		return "", refused
	}
	comp, restype := strings.ToLower(c.Query.Get("comp")), strings.ToLower(c.Query.Get("restype"))
	if container != "" && name == "" && restype == "" {
		container, name = rootContainer, container
	}
	c.Path = nil
	if container != "" {
		c.Path = append(c.Path, container)
		if err := blob.ValidateContainerName(container); err != nil {
			return "", asError(err)
		}
	}
	if name != "" {
		c.Path = append(c.Path, name)
		if err := blob.ValidateName(name); err != nil {
			return "", asError(err)
		}
	}
	if restype == "account" && comp == "properties" {
		return blobAccountInfo, nil
	}
	var of map[string]resource
	switch {
	case name != "":
		of = map[string]resource{
			"": oneBlob, "properties": blobHeaders, "metadata": blobMetadata, "lease": blobLease, "snapshot": blobSnapshot,
			"block": blobBlock, "blocklist": blobBlockList, "appendblock": blobAppend, "copy": blobCopy,
			"page": blobPage, "pagelist": blobPages, "incrementalcopy": notOffered, "tags": blobTags, "tier": blobTier,
			"undelete": notOffered, "query": notOffered, "expiry": notOffered, "immutabilitypolicies": notOffered, "legalhold": notOffered, "seal": blobSeal,
		}
	case container != "" && restype == "container":
		of = map[string]resource{
			"": oneContainer, "metadata": containerMetadata, "acl": containerACL, "lease": containerLease, "list": containerBlobs,
			"batch": containerBatch, "blobs": taggedInContainer, "undelete": notOffered, "rename": notOffered,
		}
	case container == "":
		of = map[string]resource{
			"list": blobContainers, "properties": blobProperties, "stats": blobStats,
			"batch": accountBatch, "blobs": taggedBlobs, "userdelegationkey": delegation,
		}
	}
	if on := of[comp]; on != "" {
		return on, nil
	}
	return "", ErrInvalidParameter("comp", c.Query.Get("comp"), "The address names nothing that this service has.")
}

// splitBlobPath takes the path of an address apart. Everything behind the
// container is the name, with its slashes, escaped or not.
func splitBlobPath(u *url.URL, inHost bool) (container, name string, refused *Error) {
	path := strings.TrimPrefix(u.EscapedPath(), "/")
	if !inHost {
		_, path, _ = strings.Cut(path, "/")
	}
	container, name, _ = strings.Cut(path, "/")
	for _, part := range []*string{&container, &name} {
		unescaped, err := url.PathUnescape(*part)
		if err != nil {
			return "", "", NewError(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.")
		}
		*part = unescaped
	}
	return container, strings.ReplaceAll(name, `\`, "/"), nil
}

func (c *Call) container() blob.Container { return c.Account.Blobs.Container(c.Path[0]) }

// blob is the blob of the address, or the snapshot of it that it names.
func (c *Call) blob() blob.Blob {
	b := c.container().Blob(c.Path[1])
	if snapshot := c.Query.Get("snapshot"); snapshot != "" {
		b = b.At(snapshot)
	}
	return b
}

// blobSASKind refuses signatures that are not of a container, a blob or a snapshot,
// and blob signatures for operations on the container.
func blobSASKind(c *Call) *Error {
	switch kind := c.Signature().field("sr"); kind {
	case "c":
	case "b", "bs":
		if len(c.Path) < 2 {
			return ErrNotAuthorized("Permission", "permission")
		}
	default:
		return errAuthentication("The field sr of the signature is not c, b or bs: " + strconv.Quote(kind))
	}
	return nil
}

// blobSASText returns the string to sign of a service signature for a container
// or a blob (docs: Create a service SAS, by the version of the signature).
func blobSASText(c *Call) string {
	const snapshots = "2018-11-09" // first version that signs sr and the snapshot
	s := c.Signature()
	version, kind := s.field("sv"), s.field("sr")
	of := "/blob/" + c.Account.Name + "/" + c.Path[0]
	if kind != "c" && len(c.Path) > 1 {
		of += "/" + c.Path[1]
	}
	lines := append(append(s.Fields("sp", "st", "se"), of), s.Fields("si", "sip", "spr", "sv")...)
	if version >= snapshots {
		snapshot := ""
		if kind == "bs" {
			snapshot = s.Get("snapshot")
		}
		lines = append(lines, kind, snapshot)
	}
	if version >= sesVersion {
		lines = append(lines, s.field("ses"))
	}
	return strings.Join(append(lines, s.Fields("rscc", "rscd", "rsce", "rscl", "rsct")...), "\n")
}
