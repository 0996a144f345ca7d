import com.azure.core.credential.AzureKeyCredential;
import com.azure.core.credential.AzureSasCredential;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.http.HttpClient;
import com.azure.core.http.netty.NettyAsyncHttpClientBuilder;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.models.CloudEvent;
import com.azure.core.models.CloudEventDataFormat;
import com.azure.core.util.BinaryData;
import com.azure.messaging.eventgrid.EventGridEvent;
import com.azure.messaging.eventgrid.EventGridPublisherClient;
import com.azure.messaging.eventgrid.EventGridPublisherClientBuilder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * The calls of the samples of azure-messaging-eventgrid, and how they fail.
 *
 * <p>Usage: EventGrid HTTPS_BASE HTTP_BASE KEY CONTROL; EVENTGRID_TRUST names the file of the certificate.
 */
public final class EventGrid {
    private static final OffsetDateTime AT = OffsetDateTime.parse("2026-07-08T09:10:11.12Z");
    private static String base;
    private static String key;
    private static HttpClient http;

    public static void main(String[] args) throws Exception {
        base = args[0];
        key = args[2];
        SslContext trust = SslContextBuilder.forClient().trustManager(new File(System.getenv("EVENTGRID_TRUST"))).build();
        http = new NettyAsyncHttpClientBuilder(reactor.netty.http.client.HttpClient.create().secure(s -> s.sslContext(trust))).build();
        Check.all(EventGrid::eventGridSchema, EventGrid::cloudEvents, EventGrid::credentials, EventGrid::errors);
    }

    private static EventGridPublisherClientBuilder topic(String name) {
        return new EventGridPublisherClientBuilder().endpoint(base + "/" + name + "/api/events").httpClient(http)
            .retryOptions(new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1))));
    }

    private static EventGridPublisherClient<EventGridEvent> orders() {
        return topic("orders").credential(new AzureKeyCredential(key)).buildEventGridEventPublisherClient();
    }

    private static EventGridEvent event(String id, Object data) {
        return new EventGridEvent("/orders/" + id, "Shop.Ordered", BinaryData.fromObject(data), "2.1").setId(id).setEventTime(AT);
    }

    private static void eventGridSchema() {
        orders().sendEvents(List.of(event("java-1", Map.of("amount", 7)), event("java-2", "text")));
        orders().sendEvent(event("java-3", Map.of()));
        orders().sendEvent(new EventGridEvent("s", "t", BinaryData.fromObject(7), "1")); // the package adds id and time
    }

    private static void cloudEvents() {
        EventGridPublisherClient<CloudEvent> cloud = topic("cloud").credential(new AzureKeyCredential(key)).buildCloudEventPublisherClient();
        CloudEvent object = new CloudEvent("/shop", "Shop.Ordered", BinaryData.fromObject(Map.of("amount", 7)), CloudEventDataFormat.JSON, "application/json")
            .setId("java-object").setTime(AT).setSubject("s").setDataSchema("https://shop/schema").addExtensionAttribute("traceparent", "00-1-2-00");
        CloudEvent text = new CloudEvent("/shop", "t", BinaryData.fromObject("grüße"), CloudEventDataFormat.JSON, "application/json").setId("java-text");
        CloudEvent bytes = new CloudEvent("/shop", "t", BinaryData.fromBytes(new byte[] {0, 1, -1}), CloudEventDataFormat.BYTES, "application/octet-stream").setId("java-bytes");
        cloud.sendEvents(List.of(object, text, bytes, new CloudEvent("/shop", "t", null, null, null).setId("java-none")));
        cloud.sendEvent(new CloudEvent("/shop", "t", BinaryData.fromObject(List.of(1)), CloudEventDataFormat.JSON, "application/json").setId("java-single"));
    }

    private static void fails(int status, Check.Call call) {
        Check.fails(HttpResponseException.class, e -> e.getResponse().getStatusCode(), status, call);
    }

    private static void credentials() {
        EventGridEvent event = new EventGridEvent("s", "t", BinaryData.fromObject(Map.of()), "1");
        String endpoint = base + "/orders/api/events";
        String sas = EventGridPublisherClient.generateSas(endpoint, new AzureKeyCredential(key), OffsetDateTime.now().plusHours(1));
        topic("orders").credential(new AzureSasCredential(sas)).buildEventGridEventPublisherClient().sendEvent(event);
        fails(401, () -> topic("orders").credential(new AzureKeyCredential("d3Jvbmc=")).buildEventGridEventPublisherClient().sendEvent(event));
        String late = EventGridPublisherClient.generateSas(endpoint, new AzureKeyCredential(key), OffsetDateTime.now().minusHours(2));
        fails(401, () -> topic("orders").credential(new AzureSasCredential(late)).buildEventGridEventPublisherClient().sendEvent(event));
        fails(401, () -> topic("cloud").credential(new AzureSasCredential(sas)).buildEventGridEventPublisherClient().sendEvent(event));
    }

    private static void errors() {
        EventGridEvent event = event("java-bad", Map.of());
        fails(404, () -> topic("nowhere").credential(new AzureKeyCredential(key)).buildEventGridEventPublisherClient().sendEvent(event));
        fails(400, () -> topic("cloud").credential(new AzureKeyCredential(key)).buildEventGridEventPublisherClient().sendEvent(event));
        fails(413, () -> orders().sendEvent(event("java-bad", "x".repeat(1 << 20))));
        fails(413, () -> orders().sendEvents(Collections.nCopies(60, event("java-bad", "x".repeat(60_000)))));
    }
}
