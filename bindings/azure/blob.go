package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// BlobAccount is the blob service of an account that is reached through the
// Azure SDK. It implements blob.Account.
//
// Three things differ from the embedded service. Names of metadata come back in
// lower case, because HTTP and the SDK do not keep theirs. CopyState.Source is
// the address of the source and not CopyOptions.SourceURL. Checking an access
// level is the cloud's business: it may forbid public access.
type BlobAccount struct {
	service *service.Client
	opts    *Options
}

var _ blobapi.Account = (*BlobAccount)(nil)

// NewBlobAccount returns the blobs that a connection string names.
// UseDevelopmentStorage=true is the emulator's account on 127.0.0.1, port 10000.
// Nothing is sent before the first call.
func NewBlobAccount(connectionString string, opts *Options) (*BlobAccount, error) {
	c, err := ParseConnectionString(connectionString)
	if err != nil {
		return nil, err
	}
	if c.BlobEndpoint == "" {
		return nil, errors.New("connection string: BlobEndpoint is missing")
	}
	if c.SAS != "" {
		client, err := service.NewClientWithNoCredential(c.BlobEndpoint+"/?"+c.SAS, opts.blobClient())
		if err != nil {
			return nil, errors.New("connection string: SharedAccessSignature is not the query of an address")
		}
		return &BlobAccount{client, opts}, nil
	}
	cred, err := azblob.NewSharedKeyCredential(c.Account, c.Key)
	if err != nil {
		return nil, err
	}
	client, err := service.NewClientWithSharedKeyCredential(c.BlobEndpoint+"/", cred, opts.blobClient())
	if err != nil {
		return nil, err
	}
	return &BlobAccount{client, opts}, nil
}

// NewBlobAccountWithCredential returns the blobs at an address such as
// https://account.blob.core.windows.net, to be reached with an identity. The SDK
// sends tokens over HTTPS only.
func NewBlobAccountWithCredential(serviceURL string, cred azcore.TokenCredential, opts *Options) (*BlobAccount, error) {
	if _, err := parseEndpoint("blobServiceUri", serviceURL); err != nil {
		return nil, err
	}
	client, err := service.NewClient(serviceURL, cred, opts.blobClient())
	if err != nil {
		return nil, err
	}
	return &BlobAccount{client, opts}, nil
}

func (o *Options) blobClient() *service.ClientOptions {
	out := &service.ClientOptions{}
	out.PerCallPolicies = o.policies(amend{})
	if o == nil {
		return out
	}
	if o.HTTPClient != nil {
		out.Transport = o.HTTPClient
	}
	out.Retry.MaxRetries = int32(o.Retries)
	return out
}

// amendment is an addition to a request for which the SDK has no option:
// headers, which replace its own, and a body.
type amendment struct {
	header http.Header
	body   []byte // nil: the SDK's
}

// amend is a policy, and the key of the amendment in a context.
type amend struct{}

func (amend) Do(req *policy.Request) (*http.Response, error) {
	a, ok := req.Raw().Context().Value(amend{}).(*amendment)
	if !ok {
		return req.Next()
	}
	for name, values := range a.header {
		req.Raw().Header[name] = values
	}
	if a.body != nil {
		if err := req.SetBody(bodyOf(a.body), "application/xml"); err != nil {
			return nil, err
		}
	}
	return req.Next()
}

// blobCall makes a call of the SDK and returns the headers of its answer.
func blobCall(ctx context.Context, header http.Header, f func(ctx context.Context) error) (http.Header, error) {
	return blobCallWith(ctx, &amendment{header: header}, f)
}

func blobCallWith(ctx context.Context, a *amendment, f func(ctx context.Context) error) (http.Header, error) {
	var response *http.Response
	inner := policy.WithCaptureResponse(context.WithValue(ctx, amend{}, a), &response)
	if err := f(inner); err != nil {
		return nil, translateBlob(ctx, err)
	}
	if response.StatusCode == http.StatusNotModified { // which the SDK takes for a success
		drop(response.Body)
		return nil, &storage.Error{Code: storage.CodeConditionNotMet, Status: response.StatusCode, Text: "the blob has not changed"}
	}
	return response.Header, nil
}

func drop(body io.ReadCloser) {
	io.Copy(io.Discard, body)
	body.Close()
}

// Container returns a handle on the container of that name.
func (a *BlobAccount) Container(name string) blobapi.Container {
	c := &container{account: a, name: name, nameErr: blobapi.ValidateContainerName(name)}
	if c.nameErr == nil {
		c.client = a.service.NewContainerClient(name)
	}
	return c
}

// Containers lists containers by name.
func (a *BlobAccount) Containers(ctx context.Context, opts *blobapi.ListContainersOptions) (*blobapi.ContainerPage, error) {
	if opts == nil {
		opts = &blobapi.ListContainersOptions{}
	}
	size, err := pageSize(opts.MaxResults)
	if err != nil {
		return nil, err
	}
	pager := a.service.NewListContainersPager(&service.ListContainersOptions{
		Prefix: orNil(opts.Prefix), Marker: orNil(opts.Marker), MaxResults: size, Include: service.ListContainersInclude{Metadata: opts.Metadata},
	})
	got, err := pager.NextPage(ctx)
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", translateBlob(ctx, err))
	}
	page := &blobapi.ContainerPage{NextMarker: value(got.NextMarker)}
	for _, item := range got.ContainerItems {
		p := item.Properties
		page.Containers = append(page.Containers, blobapi.ContainerItem{Name: value(item.Name), Properties: blobapi.ContainerProperties{
			ETag: quoted(p.ETag), LastModified: value(p.LastModified), Metadata: plainMetadata(item.Metadata),
			Lease:        blobapi.LeaseProperties{State: text(p.LeaseState), Status: text(p.LeaseStatus), Duration: text(p.LeaseDuration)},
			PublicAccess: blobapi.PublicAccess(text(p.PublicAccess)),
		}})
	}
	return page, nil
}
