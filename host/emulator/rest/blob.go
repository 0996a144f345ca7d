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
func accountOperations() map[verb]*operation {
	return map[verb]*operation{
		{blobContainers, http.MethodGet}:   {name: "ListContainers", resource: "s", accountSAS: "l", run: listContainers},
		{blobProperties, http.MethodGet}:   {name: "GetBlobServiceProperties", resource: "s", accountSAS: "r", run: getBlobServiceProperties},
		{blobProperties, http.MethodPut}:   {name: "SetBlobServiceProperties", write: true, resource: "s", accountSAS: "w", run: setBlobServiceProperties},
		{blobStats, http.MethodGet}:        {name: "GetBlobServiceStats", resource: "s", accountSAS: "r", run: getQueueStats},
		{blobAccountInfo, http.MethodGet}:  {name: "GetAccountInformation", resource: "sco", accountSAS: "racwdl", serviceSAS: "racwdl", run: getAccountInformation},
		{blobAccountInfo, http.MethodHead}: {name: "GetAccountInformation", resource: "sco", accountSAS: "racwdl", serviceSAS: "racwdl", run: getAccountInformation},
		{delegation, http.MethodPost}:      {name: "GetUserDelegationKey", resource: "s", byToken: true, run: getDelegationKey},

		// The requests in a batch check the rights of a signature.
		{accountBatch, http.MethodPost}:   {name: "SubmitBatch", write: true, resource: "sco", accountSAS: anyLetter, run: submitBatch},
		{containerBatch, http.MethodPost}: {name: "SubmitContainerBatch", write: true, resource: "sco", accountSAS: anyLetter, serviceSAS: anyLetter, run: submitBatch},

		{taggedBlobs, http.MethodGet}:       {name: "FindBlobsByTags", resource: "o", accountSAS: "f", run: findBlobs},
		{taggedInContainer, http.MethodGet}: {name: "FindBlobsByTagsInContainer", resource: "o", accountSAS: "f", serviceSAS: "f", run: findBlobs},
	}
}

func containerOperations() map[verb]*operation {
	return map[verb]*operation{
		{oneContainer, http.MethodPut}:       {name: "CreateContainer", write: true, resource: "c", accountSAS: "cw", run: createContainer},
		{oneContainer, http.MethodGet}:       {name: "GetContainerProperties", resource: "c", accountSAS: "r", public: blob.PublicContainer, run: getContainerProperties},
		{oneContainer, http.MethodHead}:      {name: "GetContainerProperties", resource: "c", accountSAS: "r", public: blob.PublicContainer, run: getContainerProperties},
		{oneContainer, http.MethodDelete}:    {name: "DeleteContainer", write: true, resource: "c", accountSAS: "d", run: deleteContainer},
		{containerMetadata, http.MethodGet}:  {name: "GetContainerMetadata", resource: "c", accountSAS: "r", public: blob.PublicContainer, run: getContainerMetadata},
		{containerMetadata, http.MethodHead}: {name: "GetContainerMetadata", resource: "c", accountSAS: "r", public: blob.PublicContainer, run: getContainerMetadata},
		{containerMetadata, http.MethodPut}:  {name: "SetContainerMetadata", write: true, resource: "c", accountSAS: "w", run: setContainerMetadata},
		{containerACL, http.MethodGet}:       {name: "GetContainerACL", resource: "c", run: getContainerACL},
		{containerACL, http.MethodHead}:      {name: "GetContainerACL", resource: "c", run: getContainerACL},
		{containerACL, http.MethodPut}:       {name: "SetContainerACL", write: true, resource: "c", run: setContainerACL},
		{containerLease, http.MethodPut}:     {name: "LeaseContainer", write: true, resource: "c", accountSAS: "wd", run: leaseContainer},
		{containerBlobs, http.MethodGet}:     {name: "ListBlobs", resource: "c", accountSAS: "l", serviceSAS: "l", public: blob.PublicContainer, run: listBlobs},
	}
}

func blobOperations() map[verb]*operation {
	return map[verb]*operation{
		{oneBlob, http.MethodGet}:       {name: "GetBlob", resource: "o", accountSAS: "r", serviceSAS: "r", public: blob.PublicBlobs, run: getBlob},
		{oneBlob, http.MethodHead}:      {name: "GetBlobProperties", resource: "o", accountSAS: "r", serviceSAS: "r", public: blob.PublicBlobs, run: getBlobProperties},
		{oneBlob, http.MethodPut}:       {name: "PutBlob", write: true, resource: "o", accountSAS: "cw", serviceSAS: "cw", run: putBlob},
		{oneBlob, http.MethodDelete}:    {name: "DeleteBlob", write: true, resource: "o", accountSAS: "d", serviceSAS: "d", run: deleteBlob},
		{blobHeaders, http.MethodPut}:   {name: "SetBlobProperties", write: true, resource: "o", accountSAS: "w", serviceSAS: "w", run: setBlobProperties},
		{blobMetadata, http.MethodGet}:  {name: "GetBlobMetadata", resource: "o", accountSAS: "r", serviceSAS: "r", public: blob.PublicBlobs, run: getBlobMetadata},
		{blobMetadata, http.MethodHead}: {name: "GetBlobMetadata", resource: "o", accountSAS: "r", serviceSAS: "r", public: blob.PublicBlobs, run: getBlobMetadata},
		{blobMetadata, http.MethodPut}:  {name: "SetBlobMetadata", write: true, resource: "o", accountSAS: "w", serviceSAS: "w", run: setBlobMetadata},
		{blobLease, http.MethodPut}:     {name: "LeaseBlob", write: true, resource: "o", accountSAS: "wd", serviceSAS: "wd", run: leaseBlob},
		{blobSnapshot, http.MethodPut}:  {name: "SnapshotBlob", write: true, resource: "o", accountSAS: "cw", serviceSAS: "cw", run: snapshotBlob},
		{blobBlock, http.MethodPut}:     {name: "PutBlock", write: true, resource: "o", accountSAS: "w", serviceSAS: "cw", run: putBlock},
		{blobBlockList, http.MethodPut}: {name: "PutBlockList", write: true, resource: "o", accountSAS: "w", serviceSAS: "cw", run: putBlockList},
		{blobBlockList, http.MethodGet}: {name: "GetBlockList", resource: "o", accountSAS: "r", serviceSAS: "r", public: blob.PublicBlobs, run: getBlockList},
		{blobAppend, http.MethodPut}:    {name: "AppendBlock", write: true, resource: "o", accountSAS: "aw", serviceSAS: "aw", run: appendBlock},
		{blobCopy, http.MethodPut}:      {name: "AbortCopyBlob", write: true, resource: "o", accountSAS: "w", serviceSAS: "w", run: abortCopy},
		{blobTier, http.MethodPut}:      {name: "SetBlobTier", write: true, resource: "o", accountSAS: "w", serviceSAS: "w", run: setBlobTier},
		{blobSeal, http.MethodPut}:      {name: "SealBlob", write: true, resource: "o", accountSAS: "aw", serviceSAS: "aw", run: sealBlob},
		{blobPage, http.MethodPut}:      {name: "PutPage", write: true, resource: "o", accountSAS: "w", serviceSAS: "w", run: putPage},
		{blobPages, http.MethodGet}:     {name: "GetPageRanges", resource: "o", accountSAS: "r", serviceSAS: "r", public: blob.PublicBlobs, run: getPageRanges},
		{blobTags, http.MethodPut}:      {name: "SetBlobTags", write: true, resource: "o", accountSAS: "t", serviceSAS: "t", run: setBlobTags},
		{blobTags, http.MethodGet}:      {name: "GetBlobTags", resource: "o", accountSAS: "t", serviceSAS: "t", run: getBlobTags},
	}
}

// blobService is the Blob service.
func blobService() *service {
	table := accountOperations()
	maps.Copy(table, containerOperations())
	maps.Copy(table, blobOperations())
	for _, op := range table {
		run := op.run
		op.run = func(c *call) error {
			err := run(c)
			if err != nil {
				c.in.Skip(lingering)
			}
			return err
		}
	}
	return &service{
		name:   "blob",
		letter: 'b',
		route: func(c *call) (*operation, *Error) {
			on, refused := blobResource(c)
			if refused != nil {
				return nil, refused
			}
			if on == notOffered {
				return nil, errNotOffered("QueryParameterValue", c.query.Get("comp"))
			}
			if refused := checkOffered(c); refused != nil {
				return nil, refused
			}
			if op := table[verb{on, c.r.Method}]; op != nil {
				return op, nil
			}
			return nil, errVerb()
		},
		properties: func(ctx context.Context, a *account) (storage.ServiceProperties, error) {
			p, err := a.Blobs.BlobServiceProperties(ctx)
			if err != nil {
				return storage.ServiceProperties{}, err
			}
			return *p, nil
		},
		serviceSAS: blobSASText,
		sasKind:    blobSASKind,
		policy: func(ctx context.Context, c *call, id string) (*storage.AccessPolicy, error) {
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
func blobResource(c *call) (resource, *Error) {
	container, name, refused := splitBlobPath(c.r.URL, c.inHost)
	if refused != nil {
		return "", refused
	}
	comp, restype := strings.ToLower(c.query.Get("comp")), strings.ToLower(c.query.Get("restype"))
	if container != "" && name == "" && restype == "" {
		container, name = rootContainer, container
	}
	c.path = nil
	if container != "" {
		c.path = append(c.path, container)
		if err := blob.ValidateContainerName(container); err != nil {
			return "", asError(err)
		}
	}
	if name != "" {
		c.path = append(c.path, name)
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
	return "", errInvalidParameter("comp", c.query.Get("comp"), "The address names nothing that this service has.")
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
			return "", "", newError(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.")
		}
		*part = unescaped
	}
	return container, strings.ReplaceAll(name, `\`, "/"), nil
}

func (c *call) container() blob.Container { return c.account.Blobs.Container(c.path[0]) }

// blob is the blob of the address, or the snapshot of it that it names.
func (c *call) blob() blob.Blob {
	b := c.container().Blob(c.path[1])
	if snapshot := c.query.Get("snapshot"); snapshot != "" {
		b = b.At(snapshot)
	}
	return b
}

// blobSASKind refuses signatures that are not of a container, a blob or a snapshot,
// and blob signatures for operations on the container.
func blobSASKind(c *call) *Error {
	switch kind := c.sas().field("sr"); kind {
	case "c":
	case "b", "bs":
		if len(c.path) < 2 {
			return errNotAuthorized("Permission", "permission")
		}
	default:
		return errAuthentication("The field sr of the signature is not c, b or bs: " + strconv.Quote(kind))
	}
	return nil
}

// blobSASText returns the string to sign of a service signature for a container
// or a blob (docs: Create a service SAS, by the version of the signature).
func blobSASText(c *call) string {
	const snapshots = "2018-11-09" // first version that signs sr and the snapshot
	s := c.sas()
	version, kind := s.field("sv"), s.field("sr")
	of := "/blob/" + c.account.Name + "/" + c.path[0]
	if kind != "c" && len(c.path) > 1 {
		of += "/" + c.path[1]
	}
	lines := append(append(s.fields("sp", "st", "se"), of), s.fields("si", "sip", "spr", "sv")...)
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
	return strings.Join(append(lines, s.fields("rscc", "rscd", "rsce", "rscl", "rsct")...), "\n")
}
