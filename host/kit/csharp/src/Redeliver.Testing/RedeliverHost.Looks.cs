using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Nodes;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

// Looks: nothing changes. And what must have happened.
public sealed partial class RedeliverHost
{
    /// <summary>Attempts, in the order in which they began.</summary>
    /// <param name="function">Only of this function.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public async Task<IReadOnlyList<FunctionAttempt>> GetAttemptsAsync(string? function = null, CancellationToken cancellationToken = default) =>
        await VerbAsync(HttpMethod.Get, Query("attempts", ("function", function)), null, Wire.Default.ListFunctionAttempt, cancellationToken).ConfigureAwait(false);

    /// <summary>Attempts in each delivery of a function, in the order of deliveries: 5, 5, 5.</summary>
    public async Task<IReadOnlyList<int>> GetDeliveriesAsync(string function, CancellationToken cancellationToken = default) =>
        [.. (await GetAttemptsAsync(function, cancellationToken).ConfigureAwait(false)).GroupBy(a => (a.MessageId, a.Delivery, a.DeliveryId)).Select(g => g.Count())];

    /// <summary>Attempts that run now, which hold time still.</summary>
    public async Task<IReadOnlyList<FunctionAttempt>> GetRunningAsync(CancellationToken cancellationToken = default) =>
        await VerbAsync(HttpMethod.Get, "holds", null, Wire.Default.ListFunctionAttempt, cancellationToken).ConfigureAwait(false);

    /// <summary>What has become of a message, or of all, and why: the timeline, as <c>redeliver explain</c> tells it.</summary>
    public async Task<string> ExplainAsync(string? message = null, CancellationToken cancellationToken = default) =>
        Texts.Lives(await ControlAsync(HttpMethod.Get, Query("explain", ("message", message)), null, Wire.Default.JsonObject, cancellationToken).ConfigureAwait(false));

    /// <summary>Visible messages of a queue of storage.</summary>
    public async Task<IReadOnlyList<StoredMessage>> PeekQueueAsync(string queue, CancellationToken cancellationToken = default) =>
        Messages(await ControlAsync(HttpMethod.Get, $"queues/{Uri.EscapeDataString(queue)}/messages", null, Wire.Default.Peeked, cancellationToken).ConfigureAwait(false));

    /// <summary>Messages of a queue of Service Bus, of a subscription (<c>topic/subscription</c>), or of what follows these: <c>parcels/$DeadLetterQueue</c>.</summary>
    public async Task<IReadOnlyList<StoredMessage>> PeekServiceBusAsync(string path, CancellationToken cancellationToken = default) =>
        Messages(await ControlAsync(HttpMethod.Get, Query("servicebus/messages", ("path", Entity(path))), null, Wire.Default.Peeked, cancellationToken).ConfigureAwait(false));

    private static List<StoredMessage> Messages(Peeked told) => [.. (told.Messages ?? []).Select(m => m.ToMessage())];

    /// <summary>A subscription may be written topic/subscription.</summary>
    private static string Entity(string path)
    {
        var parts = path.Split('/').ToList();
        if (parts.Count > 1 && !parts[1].StartsWith('$') && !parts[1].Equals("subscriptions", StringComparison.OrdinalIgnoreCase)) parts.Insert(1, "Subscriptions");
        return string.Join('/', parts);
    }

    /// <summary>Content of a blob.</summary>
    /// <param name="path">Container and name: <c>labels/7.txt</c>.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public Task<byte[]> DownloadAsync(string path, CancellationToken cancellationToken = default) => ControlAsync(HttpMethod.Get, Blob(path), null, cancellationToken);

    /// <summary>Documents of a container of Cosmos DB, <c>database/container</c>.</summary>
    public async Task<IReadOnlyList<JsonNode>> GetDocumentsAsync(string container, CancellationToken cancellationToken = default) =>
        (await ControlAsync(HttpMethod.Get, Query("cosmos/documents", ("container", container)), null, Wire.Default.Written, cancellationToken).ConfigureAwait(false)).Documents ?? [];

    /// <summary>What a function has put out to bindings that are only recorded.</summary>
    public async Task<IReadOnlyList<JsonNode>> GetOutputsAsync(string function, CancellationToken cancellationToken = default) =>
        (await ControlAsync(HttpMethod.Get, Query("outputs/values", ("name", function)), null, Wire.Default.Written, cancellationToken).ConfigureAwait(false)).Outputs ?? [];

    /// <summary>Records of the journal, of all runs of the host.</summary>
    /// <param name="pattern">Only those that have its members.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public async Task<IReadOnlyList<JournalRecord>> GetJournalAsync(JournalPattern? pattern = null, CancellationToken cancellationToken = default) =>
        await VerbAsync(HttpMethod.Post, "records", pattern is null ? [] : new JsonObject { ["pattern"] = Pattern(pattern) }, Wire.Default.ListJournalRecord, cancellationToken).ConfigureAwait(false);

    /// <summary>Lines that handlers have logged.</summary>
    /// <param name="function">Only of this function.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public async Task<IReadOnlyList<HandlerLog>> GetLogsAsync(string? function = null, CancellationToken cancellationToken = default) =>
        [.. (await GetJournalAsync(new JournalPattern { Kind = "handler_log", Function = function }, cancellationToken).ConfigureAwait(false)).Select(Texts.Line)];

    /// <summary>Compares with the <c>then</c> of a scenario: <c>functions</c>, <c>queues</c>, <c>serviceBus</c>, <c>blobs</c>, <c>journal</c>, <c>nothingElse</c>, <c>invariants</c>.</summary>
    /// <exception cref="RedeliverAssertionException">Something else has happened; it has every difference.</exception>
    public async Task ExpectAsync([StringSyntax(StringSyntaxAttribute.Json)] string then, CancellationToken cancellationToken = default)
    {
        var told = await VerbAsync(HttpMethod.Post, "expect", new JsonObject { ["then"] = JsonNode.Parse(then) }, Wire.Default.Compared, cancellationToken).ConfigureAwait(false);
        if (told.Failures is { Count: > 0 } failures) throw Texts.Failure(failures, Texts.Logs(told.Logs) + Again(), Seed);
    }
}
