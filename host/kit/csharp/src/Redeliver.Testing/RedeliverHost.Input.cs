using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

// What comes in. Deliveries that it starts have run when a call returns.
public sealed partial class RedeliverHost
{
    /// <summary>Puts a text on a queue of storage, encoded as the queue's messages are.</summary>
    /// <returns>Identity of the message.</returns>
    public Task<string> SendAsync(string queue, string text, QueueSend? how = null, CancellationToken cancellationToken = default) => SendAsync(queue, Encoding.UTF8.GetBytes(text), how, cancellationToken);

    /// <summary>Puts bytes on a queue of storage.</summary>
    /// <returns>Identity of the message.</returns>
    public async Task<string> SendAsync(string queue, ReadOnlyMemory<byte> body, QueueSend? how = null, CancellationToken cancellationToken = default)
    {
        var path = Query($"queues/{Uri.EscapeDataString(Named(queue))}/messages", ("raw", how is { Raw: true } ? "true" : null), ("visibility", Span(how?.Visibility)), ("ttl", Span(how?.TimeToLive)));
        return (await ControlAsync(HttpMethod.Post, path, KitHttp.Bytes(body), Wire.Default.Sent, cancellationToken).ConfigureAwait(false)).Id ?? "";
    }

    /// <summary>Puts a value on a queue of storage as JSON, with camel-case names unless <paramref name="json"/> says otherwise.</summary>
    /// <returns>Identity of the message.</returns>
    [RequiresUnreferencedCode("Serializes by reflection: use the overload with JsonTypeInfo in trimmed programs."), RequiresDynamicCode("Serializes by reflection.")]
    public Task<string> SendJsonAsync<T>(string queue, T value, JsonSerializerOptions? json = null, CancellationToken cancellationToken = default) =>
        SendAsync(queue, JsonSerializer.SerializeToUtf8Bytes(Some(value), json ?? Wire.Web), null, cancellationToken);

    /// <summary>Puts a value on a queue of storage as JSON, by the type's own contract.</summary>
    /// <returns>Identity of the message.</returns>
    public Task<string> SendJsonAsync<T>(string queue, T value, JsonTypeInfo<T> contract, CancellationToken cancellationToken = default) =>
        SendAsync(queue, JsonSerializer.SerializeToUtf8Bytes(Some(value), contract), null, cancellationToken);

    /// <summary>Sends a message to a queue or topic of Service Bus.</summary>
    /// <returns>Its message ID.</returns>
    public async Task<string> SendServiceBusAsync(string path, BusMessage message, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(message);
        var target = Query("servicebus/messages", ("path", Named(path)), ("id", message.MessageId), ("session", message.SessionId), ("subject", message.Subject),
            ("correlation", message.CorrelationId), ("contentType", message.ContentType), ("delay", Span(message.Delay)));
        foreach (var (name, value) in message.ApplicationProperties) target = Query(target, ("property", $"{name}={value ?? throw new ArgumentException($"property {name} is null", nameof(message))}"));
        return (await ControlAsync(HttpMethod.Post, target, KitHttp.Bytes(message.Body), Wire.Default.Sent, cancellationToken).ConfigureAwait(false)).MessageId ?? "";
    }

    /// <summary>Sends a text to a queue or topic of Service Bus.</summary>
    /// <returns>Its message ID.</returns>
    public Task<string> SendServiceBusAsync(string path, string text, CancellationToken cancellationToken = default) => SendServiceBusAsync(path, new BusMessage(text), cancellationToken);

    /// <summary>Sends a value as JSON, with camel-case names, to a queue or topic of Service Bus.</summary>
    /// <returns>Its message ID.</returns>
    [RequiresUnreferencedCode("Serializes by reflection: use BusMessage.FromJson with JsonTypeInfo in trimmed programs."), RequiresDynamicCode("Serializes by reflection.")]
    public Task<string> SendServiceBusJsonAsync<T>(string path, T value, Action<BusMessage>? configure = null, CancellationToken cancellationToken = default)
    {
        var message = BusMessage.FromJson(Some(value));
        configure?.Invoke(message);
        return SendServiceBusAsync(path, message, cancellationToken);
    }

    /// <summary>Publishes events to a topic of Event Grid: an array in its schema, or one event.</summary>
    /// <returns>Their IDs.</returns>
    public async Task<IReadOnlyList<string>> PublishAsync(string topic, [StringSyntax(StringSyntaxAttribute.Json)] string events, CancellationToken cancellationToken = default) =>
        (await ControlAsync(HttpMethod.Post, Query("eventgrid/events", ("topic", Named(topic))), Listed(events, "events"), Wire.Default.Sent, cancellationToken).ConfigureAwait(false)).Ids ?? [];

    /// <summary>Sends events to an event hub, in order.</summary>
    /// <param name="hub">Name of the hub.</param>
    /// <param name="bodies">Texts of the events.</param>
    /// <param name="partitionKey">Key that chooses the partition. Default: none.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public async Task SendEventsAsync(string hub, IReadOnlyCollection<string> bodies, string? partitionKey = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(bodies);
        if (bodies.Count == 0) throw new ArgumentException("there are no events: nothing would be sent", nameof(bodies));
        foreach (var body in bodies)
            await ControlAsync(HttpMethod.Post, Query("eventhubs/events", ("hub", Named(hub)), ("key", partitionKey)), KitHttp.Bytes(Encoding.UTF8.GetBytes(body)), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Writes a blob.</summary>
    /// <param name="path">Container and name: <c>labels/7.txt</c>.</param>
    /// <param name="data">Its content.</param>
    /// <param name="contentType">Default: bytes.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public Task UploadAsync(string path, ReadOnlyMemory<byte> data, string contentType = "application/octet-stream", CancellationToken cancellationToken = default) =>
        ControlAsync(HttpMethod.Put, Query(Blob(path), ("create", "true")), KitHttp.Bytes(data, contentType), cancellationToken);

    /// <summary>Writes documents of Cosmos DB: an array, or one.</summary>
    /// <param name="container">Database and container: <c>shop/orders</c>.</param>
    /// <param name="documents">Their JSON.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    /// <returns>Their IDs.</returns>
    public async Task<IReadOnlyList<string>> WriteAsync(string container, [StringSyntax(StringSyntaxAttribute.Json)] string documents, CancellationToken cancellationToken = default) =>
        (await ControlAsync(HttpMethod.Post, Query("cosmos/documents", ("container", Named(container)), ("create", "true")), Listed(documents, "documents"), Wire.Default.Sent, cancellationToken).ConfigureAwait(false)).Ids ?? [];

    /// <summary>Calls a function by hand, with its whole policy; time moves as far as that needs it.</summary>
    /// <param name="function">Function.</param>
    /// <param name="input">The trigger's value. Default: none.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    /// <returns>How it went: a failure of the handler is an answer and no exception.</returns>
    public Task<CallResult> CallAsync(string function, string? input = null, CancellationToken cancellationToken = default) =>
        VerbAsync(HttpMethod.Post, "call", new JsonObject { ["function"] = Named(function), ["input"] = input ?? "" }, Wire.Default.CallResult, cancellationToken);

    /// <summary>A client for HTTP functions: <c>await host.CreateClient().GetAsync("api/quote")</c>. Virtual time moves as far as their retries need it. The caller disposes it.</summary>
    public HttpClient CreateClient() => kit.Http.ClientOf(Path + "http/");

    /// <summary>Does a step of a scenario: all that its <c>when</c> can have, such as several messages at once.</summary>
    /// <example><code>await host.DoAsync("""{"send": {"queue": "orders", "bodies": [1, 2]}}""");</code></example>
    public Task DoAsync([StringSyntax(StringSyntaxAttribute.Json)] string step, CancellationToken cancellationToken = default) =>
        DoneAsync("step", new JsonObject { ["step"] = JsonNode.Parse(step) }, cancellationToken);

    private static string Blob(string path)
    {
        var (container, name) = path.Split('/', 2) is [var c, var n] ? (c, n) : throw new ArgumentException($"\"{path}\" is no blob: write container/name", nameof(path));
        return Query($"containers/{Uri.EscapeDataString(container)}/blob", ("name", name));
    }

    private static StringContent Listed(string json, string what)
    {
        var list = JsonNode.Parse(json) switch { JsonArray several => several, var one => new JsonArray(one) };
        if (list.Count == 0) throw new ArgumentException($"there are no {what}: nothing would be sent", what);
        return new StringContent(list.ToJsonString(), Encoding.UTF8, "application/json");
    }

    /// <summary>A name that a call cannot do without.</summary>
    private static string Named(string? name, [CallerArgumentExpression(nameof(name))] string what = "")
    {
        ArgumentException.ThrowIfNullOrEmpty(name, what);
        return name;
    }

    /// <summary>A body that is there: JSON's null is the text <c>null</c>.</summary>
    private static T Some<T>(T value) => value is null ? throw new ArgumentNullException(nameof(value), "the body is null: JSON's null is the text \"null\"") : value;

    private static int AtLeastOne(int number, [CallerArgumentExpression(nameof(number))] string what = "")
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(number, 1, what);
        return number;
    }

    private static string? Span(TimeSpan? span) => span is { } s ? SpanConverter.Text(s) : null;
    private static string? Number(int? number) => number?.ToString(CultureInfo.InvariantCulture);
}
