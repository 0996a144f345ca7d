using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Nodes;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

// Looks: nothing changes. And what must have happened.
public sealed partial class RedeliverHost
{
    /// <summary>Attempts of all functions, in the order in which they began.</summary>
    public Task<IReadOnlyList<FunctionAttempt>> GetAttemptsAsync(CancellationToken cancellationToken = default) => AttemptsAsync(null, cancellationToken);

    /// <summary>Attempts of a function, in the order in which they began.</summary>
    public Task<IReadOnlyList<FunctionAttempt>> GetAttemptsAsync(string function, CancellationToken cancellationToken = default) => AttemptsAsync(Named(function), cancellationToken);

    private async Task<IReadOnlyList<FunctionAttempt>> AttemptsAsync(string? function, CancellationToken cancellationToken) =>
        await VerbAsync(HttpMethod.Get, Query("attempts", ("function", function)), null, Wire.Default.ListFunctionAttempt, cancellationToken).ConfigureAwait(false);

    /// <summary>Attempts in each delivery of a function, in the order of deliveries: 5, 5, 5.</summary>
    public async Task<IReadOnlyList<int>> GetDeliveriesAsync(string function, CancellationToken cancellationToken = default) =>
        [.. (await AttemptsAsync(Named(function), cancellationToken).ConfigureAwait(false)).GroupBy(a => (a.MessageId, a.Delivery, a.DeliveryId)).Select(g => g.Count())];

    /// <summary>Attempts that run now, which hold time still.</summary>
    public async Task<IReadOnlyList<FunctionAttempt>> GetRunningAsync(CancellationToken cancellationToken = default) =>
        await VerbAsync(HttpMethod.Get, "holds", null, Wire.Default.ListFunctionAttempt, cancellationToken).ConfigureAwait(false);

    /// <summary>What has become of all messages, and why: the timeline, as <c>redeliver explain</c> tells it.</summary>
    public Task<string> ExplainAsync(CancellationToken cancellationToken = default) => LivesAsync(null, cancellationToken);

    /// <summary>What has become of a message, and why.</summary>
    public Task<string> ExplainAsync(string message, CancellationToken cancellationToken = default) => LivesAsync(Named(message), cancellationToken);

    private async Task<string> LivesAsync(string? message, CancellationToken cancellationToken) =>
        Texts.Lives(await ControlAsync(HttpMethod.Get, Query("explain", ("message", message)), null, Wire.Default.JsonObject, cancellationToken).ConfigureAwait(false));

    /// <summary>Visible messages of a queue of storage.</summary>
    public async Task<IReadOnlyList<StoredMessage>> PeekQueueAsync(string queue, CancellationToken cancellationToken = default) =>
        Messages(await ControlAsync(HttpMethod.Get, $"queues/{Uri.EscapeDataString(Named(queue))}/messages", null, Wire.Default.Peeked, cancellationToken).ConfigureAwait(false));

    /// <summary>Messages of a queue of Service Bus, of a subscription (<c>topic/subscription</c>), or of what follows these: <c>parcels/$DeadLetterQueue</c>.</summary>
    public async Task<IReadOnlyList<StoredMessage>> PeekServiceBusAsync(string path, CancellationToken cancellationToken = default) =>
        Messages(await ControlAsync(HttpMethod.Get, Query("servicebus/messages", ("path", Entity(Named(path)))), null, Wire.Default.Peeked, cancellationToken).ConfigureAwait(false));

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
        (await ControlAsync(HttpMethod.Get, Query("cosmos/documents", ("container", Named(container))), null, Wire.Default.Written, cancellationToken).ConfigureAwait(false)).Documents ?? [];

    /// <summary>What a function has put out to bindings that are only recorded.</summary>
    public async Task<IReadOnlyList<JsonNode>> GetOutputsAsync(string function, CancellationToken cancellationToken = default) =>
        (await ControlAsync(HttpMethod.Get, Query("outputs/values", ("name", Named(function))), null, Wire.Default.Written, cancellationToken).ConfigureAwait(false)).Outputs ?? [];

    /// <summary>Records of the journal, of all runs of the host.</summary>
    public Task<IReadOnlyList<JournalRecord>> GetJournalAsync(CancellationToken cancellationToken = default) => RecordsAsync([], cancellationToken);

    /// <summary>Records of the journal, of all runs of the host, that have the members of a pattern.</summary>
    public Task<IReadOnlyList<JournalRecord>> GetJournalAsync(JournalPattern pattern, CancellationToken cancellationToken = default) =>
        RecordsAsync(new JsonObject { ["pattern"] = Pattern(pattern) }, cancellationToken);

    private async Task<IReadOnlyList<JournalRecord>> RecordsAsync(JsonObject asked, CancellationToken cancellationToken) =>
        await VerbAsync(HttpMethod.Post, "records", asked, Wire.Default.ListJournalRecord, cancellationToken).ConfigureAwait(false);

    /// <summary>Lines that handlers have logged.</summary>
    public Task<IReadOnlyList<HandlerLog>> GetLogsAsync(CancellationToken cancellationToken = default) => LogsAsync(new JournalPattern { Kind = "handler_log" }, cancellationToken);

    /// <summary>Lines that the handler of a function has logged.</summary>
    public Task<IReadOnlyList<HandlerLog>> GetLogsAsync(string function, CancellationToken cancellationToken = default) =>
        LogsAsync(new JournalPattern { Kind = "handler_log", Function = Named(function) }, cancellationToken);

    private async Task<IReadOnlyList<HandlerLog>> LogsAsync(JournalPattern pattern, CancellationToken cancellationToken) =>
        [.. (await GetJournalAsync(pattern, cancellationToken).ConfigureAwait(false)).Select(Texts.Line)];

    /// <summary>Compares with the <c>then</c> of a scenario: <c>functions</c>, <c>queues</c>, <c>serviceBus</c>, <c>blobs</c>, <c>journal</c>, <c>nothingElse</c>, <c>invariants</c>.</summary>
    /// <exception cref="RedeliverAssertionException">Something else has happened; it has every difference.</exception>
    public async Task ExpectAsync([StringSyntax(StringSyntaxAttribute.Json)] string then, CancellationToken cancellationToken = default)
    {
        var told = await VerbAsync(HttpMethod.Post, "expect", new JsonObject { ["then"] = JsonNode.Parse(then) }, Wire.Default.Compared, cancellationToken).ConfigureAwait(false);
        if (told.Failures is { Count: > 0 } failures) throw Texts.Failure(failures, Texts.Logs(told.Logs) + Again(), Seed);
    }
}
