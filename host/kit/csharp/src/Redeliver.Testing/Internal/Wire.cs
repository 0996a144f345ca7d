using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using System.Text.RegularExpressions;

namespace Redeliver.Testing.Internal;

internal sealed record Announcement(int Kit, string? Version, string? Address, string? Worker, string? Token);
internal sealed record Refusal(string? Code, string? Error, string? Hint, List<Difference>? Failures);
internal sealed record Started(string Id, ulong Seed, DateTimeOffset? Begins, List<FunctionSummary>? Functions, AttachedWorkerPlace? Worker, List<string>? Environment, Dictionary<string, string>? Connections);
internal sealed record Ended(List<Difference>? Failures);
internal sealed record Driven(string Stopped, DateTimeOffset Now, JournalRecord? Record, string? Text, List<string>? Timeline, List<HandlerLog>? Logs);
internal sealed record Compared(List<Difference>? Failures, string? Text, List<HandlerLog>? Logs);
internal sealed record Clock(DateTimeOffset Now);
internal sealed record Sent(string? Id, string? MessageId, List<string>? Ids);
internal sealed record Peeked(List<PeekedMessage>? Messages);
internal sealed record Written(List<JsonNode>? Documents, List<JsonNode>? Outputs);

internal sealed record PeekedMessage(string? Id, string? MessageId, string? Body, string? Text, string? Binary, string? Data, int DequeueCount, int FailedDeliveries, string? State,
    DateTimeOffset? Inserted, DateTimeOffset? Enqueued, string? LastError, string? DeadLetterReason, string? DeadLetterDescription, string? DeadLetterSource, Dictionary<string, JsonElement>? Properties)
{
    internal StoredMessage ToMessage() => new()
    {
        Id = Id ?? MessageId ?? "", Body = (Data ?? Binary) is { Length: > 0 } bytes ? Convert.FromBase64String(bytes) : System.Text.Encoding.UTF8.GetBytes(Body ?? Text ?? ""),
        DeliveryCount = Math.Max(DequeueCount, FailedDeliveries), Enqueued = Inserted ?? Enqueued, State = State, LastError = LastError,
        Reason = DeadLetterReason, Description = DeadLetterDescription, Source = DeadLetterSource, Properties = Properties ?? [],
    };
}

[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(Announcement)), JsonSerializable(typeof(Refusal)), JsonSerializable(typeof(Started)), JsonSerializable(typeof(Ended))]
[JsonSerializable(typeof(Driven)), JsonSerializable(typeof(Compared)), JsonSerializable(typeof(Clock)), JsonSerializable(typeof(Sent)), JsonSerializable(typeof(Peeked))]
[JsonSerializable(typeof(Written)), JsonSerializable(typeof(CallResult)), JsonSerializable(typeof(List<FunctionAttempt>)), JsonSerializable(typeof(List<JournalRecord>))]
[JsonSerializable(typeof(JournalPattern)), JsonSerializable(typeof(JsonObject)), JsonSerializable(typeof(string))]
internal sealed partial class Wire : JsonSerializerContext
{
    /// <summary>How values of users' types are written.</summary>
    internal static JsonSerializerOptions Web { get; } = new(JsonSerializerDefaults.Web);
}

internal sealed class AttemptStatusConverter : JsonConverter<AttemptStatus>
{
    public override AttemptStatus Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetString() switch
    {
        "running" => AttemptStatus.Running,
        "succeeded" => AttemptStatus.Succeeded,
        "failed" => AttemptStatus.Failed,
        "timed_out" => AttemptStatus.TimedOut,
        "lost" => AttemptStatus.Lost,
        _ => AttemptStatus.Unknown,
    };

    public override void Write(Utf8JsonWriter writer, AttemptStatus value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value == AttemptStatus.TimedOut ? "timed_out" : value.ToString().ToLowerInvariant());
}

internal sealed class MillisecondsConverter : JsonConverter<TimeSpan>
{
    public override TimeSpan Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => TimeSpan.FromMilliseconds(reader.GetDouble());
    public override void Write(Utf8JsonWriter writer, TimeSpan value, JsonSerializerOptions options) => writer.WriteNumberValue(value.TotalMilliseconds);
}

/// <summary>Spans of the program: <c>1m30s</c> in answers, <c>90s</c> in requests.</summary>
internal sealed partial class SpanConverter : JsonConverter<TimeSpan?>
{
    public override TimeSpan? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetString() is { Length: > 0 } text ? Parse(text) : null;
    public override void Write(Utf8JsonWriter writer, TimeSpan? value, JsonSerializerOptions options) => writer.WriteStringValue(Text(value.GetValueOrDefault()));

    internal static string Text(TimeSpan span) => span.Ticks % TimeSpan.TicksPerSecond == 0
        ? (span.Ticks / TimeSpan.TicksPerSecond).ToString(CultureInfo.InvariantCulture) + "s"
        : (span.Ticks * 100).ToString(CultureInfo.InvariantCulture) + "ns";

    private static TimeSpan Parse(string text) => TimeSpan.FromTicks((long)Math.Round(Part().Matches(text).Sum(part =>
        double.Parse(part.Groups[1].ValueSpan, CultureInfo.InvariantCulture) * part.Groups[2].Value switch
        {
            "h" => TimeSpan.TicksPerHour, "m" => TimeSpan.TicksPerMinute, "s" => TimeSpan.TicksPerSecond, "ms" => TimeSpan.TicksPerMillisecond, "µs" => 10, _ => 0.01,
        })));

    [GeneratedRegex(@"([\d.]+)(h|ms|µs|ns|m|s)")] private static partial Regex Part();
}
