package azure_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// accountSAS is an account signature for queues with some permissions, good for
// an hour, made by the SDK.
func accountSAS(t *testing.T, d *queueBench, permissions string) string {
	t.Helper()
	cred, err := azqueue.NewSharedKeyCredential(rest.DevAccount, rest.DevKey)
	if err != nil {
		t.Fatal(err)
	}
	v := sas.AccountSignatureValues{
		Permissions: permissions, ResourceTypes: "sco", ExpiryTime: start.Add(time.Hour),
	}
	q, err := v.SignWithSharedKey(cred)
	if err != nil {
		t.Fatal(err)
	}
	return q.Encode()
}

// TestGoSDK makes the calls of the SDK's own samples against the server, also
// the calls that package bindings does not use.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, nil)
	d := openServer(t, clk, nil)
	ctx := t.Context()
	service, err := azqueue.NewServiceClientFromConnectionString(d.connectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}

	_, err = service.CreateQueue(ctx, "orders", &azqueue.CreateOptions{Metadata: map[string]*string{"Owner": to.Ptr("me")}})
	must("create", err)
	_, err = service.CreateQueue(ctx, "orders", nil)
	if !queueerror.HasCode(err, queueerror.QueueAlreadyExists) {
		t.Errorf("create again with other metadata = %v", err)
	}
	for _, name := range []string{"orders-a", "orders-b", "zebra"} {
		_, err = service.CreateQueue(ctx, name, nil)
		must("create", err)
	}
	var names []string
	pager := service.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: to.Ptr("orders"), MaxResults: to.Ptr[int32](2), Include: azqueue.ListQueuesInclude{Metadata: true}})
	pages := 0
	for pager.More() {
		page, err := pager.NextPage(ctx)
		must("list", err)
		pages++
		for _, q := range page.Queues {
			names = append(names, *q.Name)
			if *q.Name == "orders" && (q.Metadata["owner"] == nil || *q.Metadata["owner"] != "me") { // the SDK lower-cases names
				t.Errorf("metadata in the list = %v", q.Metadata)
			}
		}
	}
	if want := []string{"orders", "orders-a", "orders-b"}; !slices.Equal(names, want) || pages != 2 {
		t.Errorf("list = %q in %d pages, want %q in 2", names, pages, want)
	}

	q := service.NewQueueClient("orders")
	_, err = q.SetMetadata(ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{"kind": to.Ptr("test")}})
	must("set metadata", err)
	properties, err := q.GetProperties(ctx, nil)
	must("get properties", err)
	if m := properties.Metadata; len(m) != 1 || *properties.ApproximateMessagesCount != 0 || !properties.Date.Equal(start) {
		t.Errorf("properties = %v", m)
	}

	_, err = q.SetAccessPolicy(ctx, &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{{
		ID:           to.Ptr("reader"),
		AccessPolicy: &azqueue.AccessPolicy{Start: to.Ptr(start), Expiry: to.Ptr(start.Add(time.Hour)), Permission: to.Ptr("ap")},
	}}})
	must("set access policy", err)
	policies, err := q.GetAccessPolicy(ctx, nil)
	must("get access policy", err)
	if p := policies.SignedIdentifiers; len(p) != 1 || *p[0].ID != "reader" || !p[0].AccessPolicy.Expiry.Equal(start.Add(time.Hour)) || *p[0].AccessPolicy.Permission != "ap" {
		t.Errorf("access policies = %+v", p)
	}
	cred, err := azqueue.NewSharedKeyCredential(rest.DevAccount, rest.DevKey)
	must("credential", err)
	byPolicy, err := sas.QueueSignatureValues{QueueName: "orders", Identifier: "reader"}.SignWithSharedKey(cred)
	must("sign", err)
	guest, err := azqueue.NewQueueClientWithNoCredential(q.URL()+"?"+byPolicy.Encode(), nil)
	must("client by policy", err)
	_, err = guest.EnqueueMessage(ctx, "by policy", nil)
	must("put by policy", err)
	if _, err = guest.PeekMessage(ctx, nil); !queueerror.HasCode(err, queueerror.AuthorizationPermissionMismatch) {
		t.Errorf("peek by a policy without r = %v", err)
	}

	// QueueClient.GetSASURL would ask for HTTPS.
	byQueue, err := sas.QueueSignatureValues{
		QueueName: "orders", Permissions: "rp", StartTime: start.Add(-time.Minute), ExpiryTime: start.Add(time.Hour),
		Protocol: sas.ProtocolHTTPSandHTTP, IPRange: sas.IPRange{Start: net.IPv4(127, 0, 0, 1)},
	}.SignWithSharedKey(cred)
	must("queue signature", err)
	reader, err := azqueue.NewQueueClientWithNoCredential(q.URL()+"?"+byQueue.Encode(), nil)
	must("client by signature", err)
	got, err := reader.DequeueMessage(ctx, nil)
	must("get by signature", err)
	if len(got.Messages) != 1 || *got.Messages[0].MessageText != "by policy" {
		t.Errorf("messages = %+v", got.Messages)
	}
	_, err = reader.DeleteMessage(ctx, *got.Messages[0].MessageID, *got.Messages[0].PopReceipt, nil)
	must("delete by signature", err)

	lister, err := azqueue.NewServiceClientWithNoCredential(service.URL()+"?"+accountSAS(t, d, "l"), nil)
	must("client by account signature", err)
	page, err := lister.NewListQueuesPager(nil).NextPage(ctx)
	must("list by account signature", err)
	if len(page.Queues) != 4 {
		t.Errorf("%d queues, want 4", len(page.Queues))
	}
	clk.Advance(2 * time.Hour)
	if _, err = lister.NewListQueuesPager(nil).NextPage(ctx); !queueerror.HasCode(err, queueerror.AuthenticationFailed) {
		t.Errorf("list by an expired signature = %v", err)
	}

	_, err = service.SetProperties(ctx, &azqueue.SetPropertiesOptions{CORS: []*azqueue.CORSRule{{
		AllowedOrigins: to.Ptr("*"), AllowedMethods: to.Ptr("GET"), AllowedHeaders: to.Ptr("*"), ExposedHeaders: to.Ptr("*"), MaxAgeInSeconds: to.Ptr[int32](5),
	}}})
	must("set service properties", err)
	settings, err := service.GetServiceProperties(ctx, nil)
	must("get service properties", err)
	if rules := settings.CORS; len(rules) != 1 || *rules[0].MaxAgeInSeconds != 5 {
		t.Errorf("CORS rules = %+v", rules)
	}
	_, err = service.DeleteQueue(ctx, "orders", nil)
	must("delete", err)
}
