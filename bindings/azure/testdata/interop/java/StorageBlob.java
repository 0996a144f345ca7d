import com.azure.core.util.BinaryData;
import com.azure.storage.blob.BlobClient;
import com.azure.storage.blob.BlobClientBuilder;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobContainerClientBuilder;
import com.azure.storage.blob.BlobServiceClient;
import com.azure.storage.blob.BlobServiceClientBuilder;
import com.azure.storage.blob.models.AppendBlobRequestConditions;
import com.azure.storage.blob.models.BlobHttpHeaders;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.BlobStorageException;
import com.azure.storage.blob.models.BlockListType;
import com.azure.storage.blob.models.DeleteSnapshotsOptionType;
import com.azure.storage.blob.models.ListBlobsOptions;
import com.azure.storage.blob.models.ParallelTransferOptions;
import com.azure.storage.blob.options.BlobParallelUploadOptions;
import com.azure.storage.blob.sas.BlobContainerSasPermission;
import com.azure.storage.blob.sas.BlobSasPermission;
import com.azure.storage.blob.sas.BlobServiceSasSignatureValues;
import com.azure.storage.blob.specialized.AppendBlobClient;
import com.azure.storage.blob.specialized.BlobClientBase;
import com.azure.storage.blob.specialized.BlobLeaseClient;
import com.azure.storage.blob.specialized.BlobLeaseClientBuilder;
import com.azure.storage.blob.specialized.BlockBlobClient;
import com.azure.storage.common.StorageSharedKeyCredential;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The calls of the samples of azure-storage-blob, and how they fail.
 *
 * <p>Usage: StorageBlob CONNECTION_STRING
 */
public final class StorageBlob {
    public static void main(String[] args) throws Exception {
        Check.all(() -> blobs(args[0]));
    }

    private static void fails(String code, Check.Call call) {
        Check.fails(BlobStorageException.class, BlobStorageException::getErrorCode, code, call);
    }

    private static String block(String name) {
        return Base64.getEncoder().encodeToString(name.getBytes(StandardCharsets.UTF_8));
    }

    private static void blobs(String connection) {
        BlobServiceClient service = new BlobServiceClientBuilder().connectionString(connection).buildClient();
        BlobContainerClient box = service.getBlobContainerClient("java-box");
        Check.that(!box.exists(), "exists");
        fails("ContainerNotFound", box::getProperties);
        box.createWithResponse(Map.of("owner", "me"), null, null, null);
        fails("ContainerAlreadyExists", box::create);
        fails("InvalidResourceName", () -> service.createBlobContainer("Not_A_Name"));

        String name = "dir one/grüße %?#&+.txt";
        BlobClient blob = box.getBlobClient(name);
        Check.that(!blob.exists(), "exists");
        fails("BlobNotFound", blob::downloadContent);
        blob.uploadWithResponse(new BlobParallelUploadOptions(BinaryData.fromString("Hello, Wörld!"))
            .setHeaders(new BlobHttpHeaders().setContentType("text/plain")).setMetadata(Map.of("kind", "test")), null, null);
        fails("BlobAlreadyExists", () -> blob.upload(BinaryData.fromString("again")));
        Check.equal(blob.downloadContent().toString(), "Hello, Wörld!");
        BlobProperties p = blob.getProperties();
        Check.equal(List.of(p.getContentType(), p.getBlobSize(), p.getBlobType().toString(), p.getMetadata()),
            List.of("text/plain", 14L, "BlockBlob", Map.of("kind", "test")));
        fails("ConditionNotMet", () -> blob.uploadWithResponse(new BlobParallelUploadOptions(BinaryData.fromString("x"))
            .setRequestConditions(new BlobRequestConditions().setIfMatch("\"0x1\"")), null, null));
        box.getBlobClient("empty").upload(BinaryData.fromBytes(new byte[0]));
        Check.equal(box.getBlobClient("empty").downloadContent().toBytes().length, 0);

        byte[] large = new byte[9 << 20];
        for (int i = 0; i < large.length; i++) {
            large[i] = (byte) (i * 31 >> 8);
        }
        BlockBlobClient many = box.getBlobClient("large").getBlockBlobClient();
        box.getBlobClient("large").uploadWithResponse(new BlobParallelUploadOptions(new ByteArrayInputStream(large))
            .setParallelTransferOptions(new ParallelTransferOptions().setBlockSizeLong(1L << 20).setMaxSingleUploadSizeLong(1L << 20).setMaxConcurrency(4)), null, null);
        Check.that(Arrays.equals(many.downloadContent().toBytes(), large), "other bytes");
        Check.equal(many.listBlocks(BlockListType.ALL).getCommittedBlocks().size(), 9);
        many.delete();
        many.stageBlock(block("block-one"), BinaryData.fromString("12345"));
        many.commitBlockList(List.of(block("block-one")));
        Check.equal(many.downloadContent().toString(), "12345");
        fails("InvalidBlockList", () -> many.commitBlockList(List.of(block("no-such-b")), true));

        AppendBlobClient log = box.getBlobClient("log").getAppendBlobClient();
        log.create();
        log.appendBlock(new ByteArrayInputStream("one,".getBytes()), 4);
        Check.equal(log.appendBlock(new ByteArrayInputStream("two".getBytes()), 3).getBlobAppendOffset(), "4");
        fails("AppendPositionConditionNotMet", () -> log.appendBlockWithResponse(new ByteArrayInputStream("x".getBytes()), 1, null,
            new AppendBlobRequestConditions().setAppendPosition(3L), null, null));
        Check.equal(log.downloadContent().toString(), "one,two");

        blob.setHttpHeaders(new BlobHttpHeaders().setContentType("text/x").setCacheControl("no-store"));
        blob.setMetadata(Map.of("CamelCase", "v"));
        p = blob.getProperties();
        Check.equal(List.of(p.getContentType(), p.getCacheControl(), p.getMetadata()), List.of("text/x", "no-store", Map.of("CamelCase", "v")));

        BlobLeaseClient lease = new BlobLeaseClientBuilder().blobClient(blob).buildClient();
        lease.acquireLease(15);
        fails("LeaseIdMissing", () -> blob.upload(BinaryData.fromString("x"), true));
        fails("LeaseAlreadyPresent", () -> new BlobLeaseClientBuilder().blobClient(blob).buildClient().acquireLease(15));
        lease.renewLease();
        lease.releaseLease();

        BlobClientBase snapshot = blob.createSnapshot();
        blob.upload(BinaryData.fromString("new"), true);
        Check.equal(snapshot.downloadContent().toString(), "Hello, Wörld!");
        fails("SnapshotsPresent", blob::delete);
        BlobClient copy = box.getBlobClient("copy");
        Check.equal(copy.beginCopy(blob.getBlobUrl(), Duration.ofMillis(50)).waitForCompletion(Duration.ofSeconds(20)).getValue().getCopyStatus().toString(), "success");
        Check.equal(copy.downloadContent().toString(), "new");

        List<List<String>> pages = box.listBlobs(new ListBlobsOptions().setMaxResultsPerPage(2), null)
            .streamByPage().map(page -> page.getElements().stream().map(b -> b.getName()).toList()).toList();
        Check.equal(pages, List.of(List.of("copy", name), List.of("empty", "large"), List.of("log")));
        Check.equal(box.listBlobsByHierarchy(null).stream().map(b -> b.getName()).sorted().toList(), List.of("copy", "dir one/", "empty", "large", "log"));

        OffsetDateTime soon = OffsetDateTime.now().plusHours(1);
        String read = blob.generateSas(new BlobServiceSasSignatureValues(soon, new BlobSasPermission().setReadPermission(true)).setContentType("text/served"));
        BlobClient reader = new BlobClientBuilder().endpoint(blob.getBlobUrl()).sasToken(read).buildClient();
        Check.equal(reader.downloadContentWithResponse(null, null, null, null).getDeserializedHeaders().getContentType(), "text/served");
        fails("AuthorizationPermissionMismatch", reader::delete);
        String list = box.generateSas(new BlobServiceSasSignatureValues(soon, new BlobContainerSasPermission().setListPermission(true)));
        BlobContainerClient guest = new BlobContainerClientBuilder().endpoint(box.getBlobContainerUrl()).sasToken(list).buildClient();
        Check.equal(guest.listBlobs().stream().count(), 5L);
        fails("AuthorizationPermissionMismatch", () -> guest.getBlobClient("log").downloadContent());
        String late = blob.generateSas(new BlobServiceSasSignatureValues(OffsetDateTime.now().minusMinutes(1), new BlobSasPermission().setReadPermission(true)));
        fails("AuthenticationFailed", () -> new BlobClientBuilder().endpoint(blob.getBlobUrl()).sasToken(late).buildClient().downloadContent());
        StorageSharedKeyCredential wrong = new StorageSharedKeyCredential(blob.getAccountName(), "d3Jvbmc=");
        Check.fails(BlobStorageException.class, BlobStorageException::getStatusCode, 403,
            () -> new BlobClientBuilder().endpoint(blob.getBlobUrl()).credential(wrong).buildClient().getProperties());

        blob.deleteWithResponse(DeleteSnapshotsOptionType.INCLUDE, null, null, null);
        fails("BlobNotFound", blob::delete);
        box.delete();
        fails("ContainerNotFound", box::delete);
    }
}
