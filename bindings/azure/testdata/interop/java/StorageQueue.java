import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.QueueClientBuilder;
import com.azure.storage.queue.QueueServiceClient;
import com.azure.storage.queue.QueueServiceClientBuilder;
import com.azure.storage.queue.models.PeekedMessageItem;
import com.azure.storage.queue.models.QueueMessageItem;
import com.azure.storage.queue.models.QueueStorageException;
import com.azure.storage.queue.models.QueuesSegmentOptions;
import com.azure.storage.queue.models.SendMessageResult;
import com.azure.storage.queue.models.UpdateMessageResult;
import com.azure.storage.queue.sas.QueueSasPermission;
import com.azure.storage.queue.sas.QueueServiceSasSignatureValues;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/**
 * The calls of the samples of azure-storage-queue, and how they fail.
 *
 * <p>Usage: StorageQueue CONNECTION_STRING
 */
public final class StorageQueue {
    public static void main(String[] args) throws Exception {
        Check.all(() -> queue(args[0]));
    }

    private static void fails(String code, Check.Call call) {
        Check.fails(QueueStorageException.class, QueueStorageException::getErrorCode, code, call);
    }

    private static void queue(String connection) {
        QueueServiceClient service = new QueueServiceClientBuilder().connectionString(connection).buildClient();
        QueueClient queue = service.getQueueClient("java-orders");
        fails("QueueNotFound", queue::getProperties);
        fails("QueueNotFound", () -> queue.sendMessage("nobody home"));
        queue.create();
        queue.createIfNotExists();
        fails("QueueAlreadyExists", () -> queue.createWithResponse(Map.of("other", "1"), null, null));
        fails("InvalidResourceName", () -> service.createQueue("Not_A_Name"));

        String text = "grüße <b>&\"\uD83D\uDE00 ";
        SendMessageResult sent = queue.sendMessage(text);
        Check.equal(Duration.between(sent.getInsertionTime(), sent.getExpirationTime()), Duration.ofDays(7));
        PeekedMessageItem peeked = queue.peekMessage();
        Check.equal(peeked.getBody().toString(), text);
        QueueMessageItem got = queue.receiveMessages(32, Duration.ofMinutes(1), null, null).iterator().next();
        Check.equal(List.of(got.getBody().toString(), got.getDequeueCount()), List.of(text, 1L));
        UpdateMessageResult updated = queue.updateMessage(got.getMessageId(), got.getPopReceipt(), "second", Duration.ZERO);
        fails("PopReceiptMismatch", () -> queue.deleteMessage(got.getMessageId(), got.getPopReceipt()));
        queue.updateMessage(got.getMessageId(), updated.getPopReceipt(), "third", Duration.ZERO);
        QueueMessageItem again = queue.receiveMessage();
        Check.equal(List.of(again.getBody().toString(), again.getDequeueCount()), List.of("third", 2L));
        queue.deleteMessage(again.getMessageId(), again.getPopReceipt());
        fails("MessageNotFound", () -> queue.deleteMessage(again.getMessageId(), again.getPopReceipt()));
        Check.equal(queue.receiveMessage(), null);

        fails("RequestBodyTooLarge", () -> queue.sendMessage("x".repeat(65537)));
        fails("OutOfRangeQueryParameterValue", () -> queue.receiveMessages(33).iterator().next());
        Check.equal(queue.sendMessageWithResponse("never", null, Duration.ofSeconds(-1), null, null).getValue().getExpirationTime().getYear(), 9999);
        Check.equal(queue.getProperties().getApproximateMessagesCount(), 1);
        queue.clearMessages();
        Check.equal(queue.getProperties().getApproximateMessagesCount(), 0);
        queue.setMetadata(Map.of("KeyOne", "v1"));
        Check.equal(queue.getProperties().getMetadata(), Map.of("KeyOne", "v1"));

        for (String name : List.of("java-a", "java-b", "java-c")) {
            service.createQueue(name);
        }
        List<List<String>> pages = service.listQueues(new QueuesSegmentOptions().setPrefix("java-").setMaxResultsPerPage(2), null, null)
            .streamByPage().map(page -> page.getElements().stream().map(q -> q.getName()).toList()).toList();
        Check.equal(pages, List.of(List.of("java-a", "java-b"), List.of("java-c", "java-orders")));

        queue.sendMessage("signed");
        OffsetDateTime soon = OffsetDateTime.now().plusHours(1);
        String add = queue.generateSas(new QueueServiceSasSignatureValues(soon, new QueueSasPermission().setAddPermission(true)));
        QueueClient sender = new QueueClientBuilder().endpoint(queue.getQueueUrl()).sasToken(add).buildClient();
        sender.sendMessage("by signature");
        fails("AuthorizationPermissionMismatch", sender::peekMessage);
        String late = queue.generateSas(new QueueServiceSasSignatureValues(OffsetDateTime.now().minusMinutes(1), new QueueSasPermission().setReadPermission(true)));
        fails("AuthenticationFailed", () -> new QueueClientBuilder().endpoint(queue.getQueueUrl()).sasToken(late).buildClient().peekMessage());
        StorageSharedKeyCredential wrong = new StorageSharedKeyCredential(queue.getAccountName(), "d3Jvbmc=");
        fails("AuthenticationFailed", () -> new QueueClientBuilder().endpoint(queue.getQueueUrl()).credential(wrong).buildClient().getProperties());

        queue.delete();
        fails("QueueNotFound", queue::delete);
    }
}
