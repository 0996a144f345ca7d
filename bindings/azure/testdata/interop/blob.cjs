// The calls of the quick start of @azure/storage-blob, and how they fail.
// Usage: node blob.cjs CONNECTION_STRING
const assert = require("node:assert/strict");
const {
  BlobServiceClient, BlobClient, ContainerClient, StorageSharedKeyCredential, newPipeline,
  generateAccountSASQueryParameters, generateBlobSASQueryParameters,
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, BlobSASPermissions, ContainerSASPermissions, SASProtocol,
} = require("@azure/storage-blob");

const fails = async (code, status, promise) => {
  const err = await promise.then(() => assert.fail(`want ${code}`), (e) => e);
  assert.equal(err.statusCode, status, `${code}: ${err}`);
  assert.equal(err.code ?? err.details?.errorCode, code);
};

async function text(client, ...range) {
  return (await client.downloadToBuffer(...range)).toString();
}

// Sources by their address, tags, batches, pages and seals.
async function more(service, soon) {
  const box = service.getContainerClient("js-more");
  await box.create();
  const source = box.getBlockBlobClient("source");
  await source.upload("0123456789", 10, { tags: { state: "new", "a key": "x+y" } });
  const sas = generateBlobSASQueryParameters({ containerName: "js-more", blobName: "source", expiresOn: soon, permissions: BlobSASPermissions.parse("r") }, service.credential);
  const signed = `${source.url}?${sas}`;
  const put = box.getBlockBlobClient("put");
  await fails("CannotVerifyCopySource", 401, put.syncUploadFromURL(source.url));
  await put.syncUploadFromURL(signed);
  const id = Buffer.from("0001").toString("base64");
  await put.stageBlockFromURL(id, signed, 2, 3);
  await put.commitBlockList([id]);
  assert.equal(await text(put), "234");
  const log = box.getAppendBlobClient("log");
  await log.create();
  await log.appendBlockFromURL(signed, 8, 2);
  await log.seal();
  await fails("BlobIsSealed", 409, log.appendBlock("x", 1));
  await fails("CannotVerifyCopySource", 403, put.syncCopyFromURL(`${signed}x`));

  assert.deepEqual((await source.getTags()).tags, { state: "new", "a key": "x+y" });
  await source.setTags({ state: "done" });
  const found = [];
  for await (const b of service.findBlobsByTags("state = 'done'")) found.push(`${b.containerName}/${b.name}`);
  assert.deepEqual(found, ["js-more/source"]);
  await fails("ConditionNotMet", 412, source.download(0, undefined, { conditions: { tagConditions: "state = 'new'" } }));

  const disk = box.getPageBlobClient("disk");
  await disk.create(2048, { blobSequenceNumber: 1 });
  await disk.uploadPages("a".repeat(1024), 512, 1024);
  await disk.clearPages(1024, 512);
  assert.deepEqual((await disk.getPageRanges(0, 2048)).pageRange, [{ offset: 512, count: 511 }]);
  await disk.resize(1024);
  assert.equal(await text(disk), "\0".repeat(512) + "a".repeat(512));
  await fails("InvalidPageRange", 416, disk.uploadPages("a".repeat(512), 1024, 512));

  const batch = service.getBlobBatchClient();
  const answers = await batch.deleteBlobs([put.url, box.getBlobClient("none").url, log.url], service.credential);
  assert.deepEqual(answers.subResponses.map((r) => r.status), [202, 404, 202]);
  await box.delete();
}

async function main() {
  const service = BlobServiceClient.fromConnectionString(process.argv[2]);
  const container = service.getContainerClient("js-box");

  assert.equal(await container.exists(), false);
  await fails("ContainerNotFound", 404, container.getProperties());
  assert.equal((await container.createIfNotExists({ metadata: { owner: "me" } })).succeeded, true);
  assert.equal((await container.createIfNotExists()).succeeded, false);
  await fails("ContainerAlreadyExists", 409, container.create());
  await fails("InvalidResourceName", 400, service.createContainer("Not_A_Name"));

  const name = "dir one/grüße %?#&+.txt";
  const blob = container.getBlockBlobClient(name);
  assert.equal(await blob.exists(), false);
  await fails("BlobNotFound", 404, blob.download());
  const content = "Hello, Wörld!";
  const put = await blob.upload(content, Buffer.byteLength(content), { blobHTTPHeaders: { blobContentType: "text/plain" }, metadata: { kind: "test" } });
  assert.match(put.etag, /^"0x[0-9A-F]+"$/);
  assert.equal(await text(blob), content);
  assert.equal(await text(blob, 7, 3), "W\u00f6");
  const properties = await blob.getProperties();
  assert.deepEqual([properties.contentType, properties.contentLength, properties.blobType, properties.metadata, properties.etag], ["text/plain", 14, "BlockBlob", { kind: "test" }, put.etag]);
  await fails("BlobAlreadyExists", 409, blob.upload("x", 1, { conditions: { ifNoneMatch: "*" } }));
  await fails("ConditionNotMet", 412, blob.upload("x", 1, { conditions: { ifMatch: '"0x1"' } }));
  await fails("InvalidRange", 416, blob.download(1000));

  // A large one, in blocks and in parallel, and back.
  const large = Buffer.alloc(9 << 20, "0123456789abcdef");
  const many = container.getBlockBlobClient("large");
  await many.uploadData(large, { blockSize: 2 << 20, maxSingleShotSize: 1 << 20, concurrency: 4 });
  assert.ok(large.equals(await many.downloadToBuffer(0, undefined, { blockSize: 1 << 20, concurrency: 4 })));
  assert.equal((await many.getBlockList("all")).committedBlocks.length, 5);
  const few = container.getBlockBlobClient("large");
  await few.delete();
  await few.stageBlock(Buffer.from("block-one").toString("base64"), "12345", 5);
  await few.commitBlockList([Buffer.from("block-one").toString("base64")]);
  assert.equal(await text(few), "12345");
  await fails("InvalidBlockList", 400, few.commitBlockList([Buffer.from("no-such-b").toString("base64")]));

  const log = container.getAppendBlobClient("log");
  await log.create();
  await log.appendBlock("one,", 4);
  assert.equal((await log.appendBlock("two", 3)).blobAppendOffset, "4");
  await fails("AppendPositionConditionNotMet", 412, log.appendBlock("x", 1, { conditions: { appendPosition: 3 } }));
  assert.equal(await text(log), "one,two");

  await blob.setHTTPHeaders({ blobContentType: "text/x", blobCacheControl: "no-store" });
  await blob.setMetadata({ a_1: "v", a1: "v" }); // signed in an order that is not of bytes
  await blob.setMetadata({ other: "v" });
  const changed = await blob.getProperties();
  assert.deepEqual([changed.contentType, changed.cacheControl, changed.metadata], ["text/x", "no-store", { other: "v" }]);

  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  await fails("LeaseIdMissing", 412, blob.upload("x", 1));
  await fails("LeaseAlreadyPresent", 409, blob.getBlobLeaseClient().acquireLease(15));
  await lease.renewLease();
  await lease.releaseLease();

  const snapshot = await blob.createSnapshot();
  await blob.upload("new", 3);
  assert.equal(await text(blob.withSnapshot(snapshot.snapshot)), content);
  await fails("SnapshotsPresent", 409, blob.delete());
  const copy = container.getBlockBlobClient("copy");
  const poller = await copy.beginCopyFromURL(blob.url);
  assert.equal((await poller.pollUntilDone()).copyStatus, "success");
  assert.equal(await text(copy), "new");

  const flat = [];
  for await (const page of container.listBlobsFlat({ includeMetadata: true, includeSnapshots: true }).byPage({ maxPageSize: 2 })) {
    flat.push(page.segment.blobItems.map((b) => b.name));
  }
  assert.deepEqual(flat, [["copy", name], [name, "large"], ["log"]]);
  const top = [];
  for await (const item of container.listBlobsByHierarchy("/")) top.push(`${item.kind} ${item.name}`);
  assert.deepEqual(top.sort(), ["blob copy", "blob large", "blob log", "prefix dir one/"]);
  const containers = [];
  for await (const c of service.listContainers({ prefix: "js-", includeMetadata: true })) containers.push([c.name, c.metadata]);
  assert.deepEqual(containers, [["js-box", { owner: "me" }]]);

  await service.setProperties({ cors: [{ allowedOrigins: "*", allowedMethods: "GET", allowedHeaders: "*", exposedHeaders: "*", maxAgeInSeconds: 3 }] });
  assert.equal((await service.getProperties()).cors[0].maxAgeInSeconds, 3);
  assert.equal((await service.getAccountInfo()).accountKind, "StorageV2");

  // Signatures of the account, of the container, of the blob and by a stored policy.
  const credential = service.credential;
  const soon = new Date(Date.now() + 3600000);
  const accountSAS = generateAccountSASQueryParameters({
    expiresOn: soon, permissions: AccountSASPermissions.parse("l"), protocol: SASProtocol.HttpsAndHttp,
    resourceTypes: AccountSASResourceTypes.parse("s").toString(), services: AccountSASServices.parse("b").toString(),
  }, credential).toString();
  const lister = new BlobServiceClient(`${service.url.replace(/\/$/, "")}?${accountSAS}`);
  assert.equal((await lister.listContainers().byPage().next()).value.containerItems.length, 1);
  await fails("AuthorizationPermissionMismatch", 403, lister.getProperties());
  const blobSAS = generateBlobSASQueryParameters({ containerName: "js-box", blobName: name, expiresOn: soon, permissions: BlobSASPermissions.parse("r"), contentType: "text/served" }, credential);
  const reader = new BlobClient(`${blob.url}?${blobSAS}`);
  assert.equal((await reader.download()).contentType, "text/served");
  await fails("AuthorizationPermissionMismatch", 403, reader.delete());
  const containerSAS = generateBlobSASQueryParameters({ containerName: "js-box", expiresOn: soon, permissions: ContainerSASPermissions.parse("l") }, credential);
  const box = new ContainerClient(`${container.url}?${containerSAS}`);
  assert.equal((await box.listBlobsFlat().byPage().next()).value.segment.blobItems.length, 4);
  await fails("AuthorizationPermissionMismatch", 403, box.getBlobClient("log").download());
  await container.setAccessPolicy(undefined, [{ id: "p1", accessPolicy: { startsOn: new Date(Date.now() - 60000), expiresOn: soon, permissions: "r" } }]);
  const past = new Date(Date.now() - 60000);
  const oldSAS = generateBlobSASQueryParameters({ containerName: "js-box", blobName: name, expiresOn: past, permissions: BlobSASPermissions.parse("r") }, credential);
  await fails("AuthenticationFailed", 403, new BlobClient(`${blob.url}?${oldSAS}`).download());
  const policySAS = generateBlobSASQueryParameters({ containerName: "js-box", identifier: "p1" }, credential);
  assert.equal(await text(new ContainerClient(`${container.url}?${policySAS}`).getBlobClient("log")), "one,two");
  await fails("NoAuthenticationInformation", 401, new BlobClient(blob.url).getProperties());
  const wrong = new StorageSharedKeyCredential(credential.accountName, Buffer.from("wrong").toString("base64"));
  await fails("AuthenticationFailed", 403, new BlobClient(blob.url, newPipeline(wrong)).getProperties());

  await more(service, soon);
  await blob.delete({ deleteSnapshots: "include" });
  assert.equal((await blob.deleteIfExists()).succeeded, false);
  assert.equal((await container.deleteIfExists()).succeeded, true);
  assert.equal((await container.deleteIfExists()).succeeded, false);
  console.log("ok");
}

main().catch((err) => { console.error(err); process.exit(1); });
