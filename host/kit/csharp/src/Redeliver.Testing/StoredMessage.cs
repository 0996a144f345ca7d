using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;

namespace Redeliver.Testing;

/// <summary>A message as it lies in a queue, an entity of Service Bus, or a dead-letter queue.</summary>
public sealed record StoredMessage
{
    /// <summary>Identity at its service.</summary>
    public string Id { get; init; } = "";
    /// <summary>The body as it was sent: not Base64.</summary>
    public ReadOnlyMemory<byte> Body { get; init; }
    /// <summary>Deliveries so far.</summary>
    public int DeliveryCount { get; init; }
    /// <summary>When it was put there, in virtual time.</summary>
    public DateTimeOffset? Enqueued { get; init; }
    /// <summary>Of Service Bus: active, deferred, scheduled or locked.</summary>
    public string? State { get; init; }
    /// <summary>Why it is a dead letter; null for others.</summary>
    public string? Reason { get; init; }
    /// <summary>More about that.</summary>
    public string? Description { get; init; }
    /// <summary>Where it was before it became a dead letter.</summary>
    public string? Source { get; init; }
    /// <summary>Of a poison message the last failure of its function.</summary>
    public string? LastError { get; init; }
    /// <summary>Application properties.</summary>
    public IReadOnlyDictionary<string, JsonElement> Properties { get; init; } = new Dictionary<string, JsonElement>();

    /// <summary>The body as UTF-8 text.</summary>
    public string Text => Encoding.UTF8.GetString(Body.Span);
    /// <summary>The body as JSON.</summary>
    /// <exception cref="JsonException">It is none.</exception>
    public JsonNode? Json() => JsonNode.Parse(Body.Span);
    /// <summary>The body as a value, read by the type's own contract: safe for trimming.</summary>
    /// <exception cref="JsonException">It is none.</exception>
    public T? Json<T>(JsonTypeInfo<T> contract) => JsonSerializer.Deserialize(Body.Span, contract);
}
