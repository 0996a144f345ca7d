"""The calls of the quick start of azure-storage-queue, and how they fail.

Usage: python3 storagequeue.py CONNECTION_STRING
"""
import sys

# This file's own name must not stand in for the standard library's queue.
sys.path = [p for p in sys.path if not p.endswith("testdata/interop")]

from datetime import datetime, timedelta, timezone

from azure.core.exceptions import (
    ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceNotFoundError,
)
from azure.storage.queue import (
    AccessPolicy, AccountSasPermissions, CorsRule, QueueClient, QueueSasPermissions, QueueServiceClient, ResourceTypes,
    TextBase64DecodePolicy, TextBase64EncodePolicy, generate_account_sas, generate_queue_sas,
)


def fails(code, kind, call, *args, **kwargs):
    try:
        result = call(*args, **kwargs)
        list(result) if hasattr(result, "__iter__") else result
    except kind as err:
        assert err.error_code == code, (code, err.error_code, err)
        return
    raise AssertionError(f"want {code}")


def main(connection):
    service = QueueServiceClient.from_connection_string(connection)
    queue = service.get_queue_client("py-orders")

    fails("QueueNotFound", ResourceNotFoundError, queue.get_queue_properties)
    fails("QueueNotFound", ResourceNotFoundError, queue.send_message, "nobody home")
    queue.create_queue()
    fails("QueueAlreadyExists", ResourceExistsError, queue.create_queue, metadata={"other": "1"})
    fails("InvalidResourceName", HttpResponseError, service.create_queue, "Not_A_Name")

    text = 'grüße <b>&"\U0001F600 '
    sent = queue.send_message(text)
    assert sent.id and sent.pop_receipt and sent.expires_on - sent.inserted_on == timedelta(days=7), sent
    assert [m.content for m in queue.peek_messages(max_messages=5)] == [text]
    got = next(iter(queue.receive_messages(messages_per_page=32, visibility_timeout=60)))
    assert (got.content, got.dequeue_count) == (text, 1), got
    updated = queue.update_message(got, visibility_timeout=0, content="second")
    fails("PopReceiptMismatch", HttpResponseError, queue.delete_message, got.id, got.pop_receipt)
    queue.update_message(updated.id, updated.pop_receipt, visibility_timeout=0)
    again = queue.receive_message()
    assert (again.content, again.dequeue_count) == ("second", 2), again
    queue.delete_message(again)
    fails("MessageNotFound", ResourceNotFoundError, queue.delete_message, again)

    fails("RequestBodyTooLarge", HttpResponseError, queue.send_message, "x" * 65537)
    fails("OutOfRangeQueryParameterValue", HttpResponseError, queue.receive_messages, messages_per_page=33)
    assert queue.send_message("never", time_to_live=-1).expires_on.year == 9999
    assert queue.get_queue_properties().approximate_message_count == 1
    queue.clear_messages()
    assert queue.get_queue_properties().approximate_message_count == 0

    encoded = QueueClient.from_connection_string(
        connection, "py-orders", message_encode_policy=TextBase64EncodePolicy(), message_decode_policy=TextBase64DecodePolicy())
    encoded.send_message("encoded")
    assert queue.peek_messages()[0].content == "ZW5jb2RlZA=="
    assert encoded.receive_message().content == "encoded"

    queue.set_queue_metadata({"KeyOne": "v1"})
    assert queue.get_queue_properties().metadata == {"KeyOne": "v1"}, queue.get_queue_properties().metadata
    now = datetime.now(timezone.utc)
    queue.set_queue_access_policy({"p1": AccessPolicy(permission=QueueSasPermissions(read=True), start=now - timedelta(minutes=1), expiry=now + timedelta(hours=1))})
    assert queue.get_queue_access_policy()["p1"].permission == "r"

    for name in ("py-a", "py-b", "py-c"):
        service.create_queue(name)
    pages = [[q.name for q in page] for page in service.list_queues(name_starts_with="py-", include_metadata=True, results_per_page=2).by_page()]
    assert pages == [["py-a", "py-b"], ["py-c", "py-orders"]], pages
    service.set_service_properties(cors=[CorsRule(["*"], ["GET"], max_age_in_seconds=3)])
    assert service.get_service_properties()["cors"][0].max_age_in_seconds == 3

    account, key = service.account_name, service.credential.account_key
    endpoint = service.url.rstrip("/").split("?")[0]
    soon = now + timedelta(hours=1)
    sas = generate_account_sas(account, key, resource_types=ResourceTypes(service=True), permission=AccountSasPermissions(list=True), expiry=soon)
    lister = QueueServiceClient(endpoint, credential=sas)
    assert len(list(lister.list_queues())) == 4
    fails("AuthorizationPermissionMismatch", HttpResponseError, lister.get_service_properties)
    sas = generate_queue_sas(account, "py-orders", key, permission=QueueSasPermissions(add=True), expiry=soon)
    sender = QueueClient(endpoint, "py-orders", credential=sas)
    sender.send_message("by signature")
    fails("AuthorizationPermissionMismatch", HttpResponseError, sender.peek_messages)
    sas = generate_queue_sas(account, "py-orders", key, permission=QueueSasPermissions(read=True), expiry=now - timedelta(minutes=1))
    fails("AuthenticationFailed", ClientAuthenticationError, QueueClient(endpoint, "py-orders", credential=sas).peek_messages)
    sas = generate_queue_sas(account, "py-orders", key, policy_id="p1")
    assert len(QueueClient(endpoint, "py-orders", credential=sas).peek_messages(max_messages=5)) == 1
    fails("AuthenticationFailed", ClientAuthenticationError,
          QueueClient(endpoint, "py-orders", credential={"account_name": account, "account_key": "d3Jvbmc="}).get_queue_properties)

    queue.delete_queue()
    fails("QueueNotFound", ResourceNotFoundError, queue.delete_queue)
    print("ok")


main(sys.argv[1])
