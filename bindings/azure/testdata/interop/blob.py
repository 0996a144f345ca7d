"""The calls of the quick start of azure-storage-blob, and how they fail.

Usage: python3 blob.py CONNECTION_STRING
"""
import sys

# The names of files here must not stand in for the standard library's queue.
sys.path = [p for p in sys.path if not p.endswith("testdata/interop")]

from datetime import datetime, timedelta, timezone

from azure.core import MatchConditions
from azure.core.exceptions import (
    ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError,
)
from azure.storage.blob import (
    AccessPolicy, AccountSasPermissions, BlobBlock, BlobClient, BlobPrefix, BlobSasPermissions, BlobServiceClient, ContainerClient,
    ContainerSasPermissions, ContentSettings, CorsRule, ResourceTypes, generate_account_sas, generate_blob_sas, generate_container_sas,
)


def fails(code, kind, call, *args, **kwargs):
    try:
        result = call(*args, **kwargs)
        list(result) if hasattr(result, "__iter__") else result
    except kind as err:
        assert err.error_code == code, (code, err.error_code, err)
        return
    raise AssertionError(f"want {code}")


def more(service, account, key, soon):
    """Sources by their address, tags, batches, pages and seals."""
    box = service.create_container("py-more")
    source = box.get_blob_client("source")
    source.upload_blob(b"0123456789", tags={"state": "new", "a key": "x+y"})
    signed = source.url + "?" + generate_blob_sas(account, "py-more", "source", account_key=key, permission=BlobSasPermissions(read=True), expiry=soon)
    put = box.get_blob_client("put")
    fails("CannotVerifyCopySource", HttpResponseError, put.upload_blob_from_url, source.url)
    put.upload_blob_from_url(signed)
    put.stage_block_from_url("0001", signed, source_offset=2, source_length=3)
    put.commit_block_list([BlobBlock("0001")])
    assert put.download_blob().readall() == b"234"
    log = box.get_blob_client("log")
    log.create_append_blob()
    log.append_block_from_url(signed, source_offset=8, source_length=2)
    assert log.seal_append_blob()["blob_sealed"]
    fails("BlobIsSealed", HttpResponseError, log.append_block, b"x")
    fails("CannotVerifyCopySource", HttpResponseError, put.start_copy_from_url, signed + "x")

    assert source.get_blob_tags() == {"state": "new", "a key": "x+y"}
    source.set_blob_tags({"state": "done"})
    assert [(b.container_name, b.name) for b in service.find_blobs_by_tags("state = 'done'")] == [("py-more", "source")]
    assert [b.name for b in box.find_blobs_by_tags("state = 'new'")] == []
    fails("ConditionNotMet", ResourceModifiedError, source.download_blob, if_tags_match_condition="state = 'new'")
    fails("InvalidQueryParameterValue", HttpResponseError, service.find_blobs_by_tags, "state = done")

    disk = box.get_blob_client("disk")
    disk.create_page_blob(2048, sequence_number=1)
    disk.upload_page(b"a" * 1024, 512, 1024)
    disk.clear_page(1024, 512)
    assert [(r.start, r.end) for r in disk.list_page_ranges()] == [(512, 1023)]
    disk.resize_blob(1024)
    assert disk.download_blob().readall() == bytes(512) + b"a" * 512
    fails("InvalidPageRange", HttpResponseError, disk.upload_page, b"a" * 512, 1024, 512)

    assert [r.status_code for r in box.set_standard_blob_tier_blobs("Cool", "put")] == [200]
    answers = box.delete_blobs("put", "none", "log", raise_on_any_failure=False)
    assert [r.status_code for r in answers] == [202, 404, 202]
    service.delete_container("py-more")


def main(connection):
    service = BlobServiceClient.from_connection_string(connection, max_single_put_size=1 << 20, max_block_size=1 << 20, max_single_get_size=1 << 20, max_chunk_get_size=1 << 20)
    box = service.get_container_client("py-box")
    assert not box.exists()
    fails("ContainerNotFound", ResourceNotFoundError, box.get_container_properties)
    box.create_container(metadata={"owner": "me"})
    fails("ContainerAlreadyExists", ResourceExistsError, box.create_container)
    fails("InvalidResourceName", HttpResponseError, service.create_container, "Not_A_Name")

    name = "dir one/grüße %?#&+.txt"
    blob = box.get_blob_client(name)
    assert not blob.exists()
    fails("BlobNotFound", ResourceNotFoundError, blob.download_blob)
    blob.upload_blob("Hello, Wörld!", content_settings=ContentSettings(content_type="text/plain"), metadata={"kind": "test"})
    fails("BlobAlreadyExists", ResourceExistsError, blob.upload_blob, "again")
    assert blob.download_blob().readall().decode() == "Hello, Wörld!"
    assert blob.download_blob(offset=7, length=3).readall().decode() == "Wö"
    p = blob.get_blob_properties()
    assert (p.content_settings.content_type, p.size, p.blob_type, p.metadata, p.name) == ("text/plain", 14, "BlockBlob", {"kind": "test"}, name), p
    fails("ConditionNotMet", ResourceModifiedError, blob.upload_blob, "x", overwrite=True, etag='"0x1"', match_condition=MatchConditions.IfNotModified)
    box.get_blob_client("empty").upload_blob(b"")
    assert box.get_blob_client("empty").download_blob().readall() == b""

    large = b"0123456789abcdef" * (9 << 16)
    many = box.get_blob_client("large")
    many.upload_blob(large, max_concurrency=4)
    assert many.download_blob(max_concurrency=4).readall() == large
    assert len(many.get_block_list("all")[0]) == 9
    many.delete_blob()
    many.stage_block("block-one", b"12345")
    many.commit_block_list([BlobBlock("block-one")])
    assert many.download_blob().readall() == b"12345"
    fails("InvalidBlockList", HttpResponseError, many.commit_block_list, [BlobBlock("no-such-b")])

    log = box.get_blob_client("log")
    log.create_append_blob()
    log.append_block(b"one,")
    assert log.append_block(b"two")["blob_append_offset"] == "4"
    fails("AppendPositionConditionNotMet", HttpResponseError, log.append_block, b"x", appendpos_condition=3)
    assert log.download_blob().readall() == b"one,two"

    blob.set_http_headers(ContentSettings(content_type="text/x", cache_control="no-store"))
    blob.set_blob_metadata({"a_1": "v", "a1": "v"})  # signed in an order that is not of bytes
    blob.set_blob_metadata({"CamelCase": "v"})
    p = blob.get_blob_properties()
    assert (p.content_settings.content_type, p.content_settings.cache_control, p.metadata) == ("text/x", "no-store", {"CamelCase": "v"}), p

    lease = blob.acquire_lease(lease_duration=15)
    fails("LeaseIdMissing", HttpResponseError, blob.upload_blob, "x", overwrite=True)
    fails("LeaseAlreadyPresent", ResourceExistsError, blob.acquire_lease, lease_duration=15)
    lease.renew()
    lease.release()

    snapshot = blob.create_snapshot()
    blob.upload_blob("new", overwrite=True)
    assert box.get_blob_client(name, snapshot=snapshot["snapshot"]).download_blob().readall().decode() == "Hello, Wörld!"
    fails("SnapshotsPresent", HttpResponseError, blob.delete_blob)
    copy = box.get_blob_client("copy")
    assert copy.start_copy_from_url(blob.url)["copy_status"] == "success"
    assert copy.download_blob().readall() == b"new"

    pages = [[b.name for b in page] for page in box.list_blobs(include=["metadata", "snapshots"], results_per_page=2).by_page()]
    assert pages == [["copy", name], [name, "empty"], ["large", "log"]], pages
    top = sorted((isinstance(b, BlobPrefix), b.name) for b in box.walk_blobs(delimiter="/"))
    assert top == [(False, "copy"), (False, "empty"), (False, "large"), (False, "log"), (True, "dir one/")], top
    assert [(c.name, c.metadata) for c in service.list_containers(name_starts_with="py-", include_metadata=True)] == [("py-box", {"owner": "me"})]
    service.set_service_properties(cors=[CorsRule(["*"], ["GET"], max_age_in_seconds=3)])
    assert service.get_service_properties()["cors"][0].max_age_in_seconds == 3
    assert service.get_account_information()["account_kind"] == "StorageV2"

    account, key = service.account_name, service.credential.account_key
    endpoint = service.url.rstrip("/").split("?")[0]
    now = datetime.now(timezone.utc)
    soon = now + timedelta(hours=1)
    sas = generate_account_sas(account, key, resource_types=ResourceTypes(service=True), permission=AccountSasPermissions(list=True), expiry=soon)
    lister = BlobServiceClient(endpoint, credential=sas)
    assert len(list(lister.list_containers())) == 1
    fails("AuthorizationPermissionMismatch", HttpResponseError, lister.get_service_properties)
    sas = generate_blob_sas(account, "py-box", name, account_key=key, permission=BlobSasPermissions(read=True), expiry=soon, content_type="text/served")
    reader = BlobClient(endpoint, "py-box", name, credential=sas)
    assert reader.download_blob().properties.content_settings.content_type == "text/served"
    fails("AuthorizationPermissionMismatch", HttpResponseError, reader.delete_blob)
    sas = generate_container_sas(account, "py-box", account_key=key, permission=ContainerSasPermissions(list=True), expiry=soon)
    guest = ContainerClient(endpoint, "py-box", credential=sas)
    assert len(list(guest.list_blobs())) == 5
    fails("AuthorizationPermissionMismatch", HttpResponseError, guest.get_blob_client("log").download_blob)
    box.set_container_access_policy({"p1": AccessPolicy(permission=ContainerSasPermissions(read=True), start=now - timedelta(minutes=1), expiry=soon)})
    assert box.get_container_access_policy()["signed_identifiers"][0].id == "p1"
    sas = generate_blob_sas(account, "py-box", name, account_key=key, permission=BlobSasPermissions(read=True), expiry=now - timedelta(minutes=1))
    fails("AuthenticationFailed", ClientAuthenticationError, BlobClient(endpoint, "py-box", name, credential=sas).download_blob)
    sas = generate_container_sas(account, "py-box", account_key=key, policy_id="p1")
    assert ContainerClient(endpoint, "py-box", credential=sas).get_blob_client("log").download_blob().readall() == b"one,two"
    fails("AuthenticationFailed", ClientAuthenticationError,
          BlobClient(endpoint, "py-box", "log", credential={"account_name": account, "account_key": "d3Jvbmc="}).get_blob_properties)

    more(service, account, key, soon)
    blob.delete_blob(delete_snapshots="include")
    fails("BlobNotFound", ResourceNotFoundError, blob.delete_blob)
    box.delete_container()
    fails("ContainerNotFound", ResourceNotFoundError, box.delete_container)
    print("ok")


main(sys.argv[1])
