package azure

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/redeliver/redeliver/bindings/storage"
)

// translateBlob returns the error of a call in the terms of package bindings: a
// *storage.Error for a refusal by the service.
func translateBlob(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*storage.Error](err); ok {
		return own
	}
	r, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || ctx.Err() != nil {
		return translate(ctx, err)
	}
	code := storage.Code(r.ErrorCode)
	if code == "" {
		code = codeOfStatus(r.StatusCode)
	}
	out := &storage.Error{Code: code, Status: r.StatusCode}
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
func codeOfStatus(status int) storage.Code {
	switch status {
	case http.StatusNotFound:
		return storage.CodeBlobNotFound
	case http.StatusNotModified, http.StatusPreconditionFailed:
		return storage.CodeConditionNotMet
	case http.StatusRequestedRangeNotSatisfiable:
		return storage.CodeInvalidRange
	case http.StatusRequestEntityTooLarge:
		return storage.CodeRequestBodyTooLarge
	}
	return ""
}
