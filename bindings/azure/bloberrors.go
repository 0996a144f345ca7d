package azure

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/redeliver/redeliver/bindings"
)

// translateBlob returns the error of a call in the terms of package bindings: a
// *bindings.BlobError for a refusal by the service.
func translateBlob(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*bindings.BlobError](err); ok {
		return own
	}
	r, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || ctx.Err() != nil {
		return translate(ctx, err)
	}
	code := bindings.BlobCode(r.ErrorCode)
	if code == "" {
		code = codeOfStatus(r.StatusCode)
	}
	out := &bindings.BlobError{Code: code, Status: r.StatusCode}
	if r.RawResponse == nil {
		return out
	}
	if request := r.RawResponse.Request; request != nil {
		out.Text = strconv.Itoa(r.StatusCode) + " from " + request.Method + " " + bare(request.URL)
	}
	if size, ok := strings.CutPrefix(r.RawResponse.Header.Get("Content-Range"), "bytes */"); ok {
		if n, err := strconv.ParseInt(size, 10, 64); err == nil {
			out.Size = n
		}
	}
	return out
}

// codeOfStatus is for answers without a code, such as those to HEAD by way of
// some proxies.
func codeOfStatus(status int) bindings.BlobCode {
	switch status {
	case http.StatusNotFound:
		return bindings.CodeBlobNotFound
	case http.StatusNotModified, http.StatusPreconditionFailed:
		return bindings.CodeConditionNotMet
	case http.StatusRequestedRangeNotSatisfiable:
		return bindings.CodeInvalidRange
	case http.StatusRequestEntityTooLarge:
		return bindings.CodeRequestBodyTooLarge
	}
	return ""
}
