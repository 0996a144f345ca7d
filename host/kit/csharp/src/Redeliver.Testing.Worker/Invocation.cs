using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Redeliver.Testing.Worker;

/// <summary>A call of a handler that may wait for virtual time: it has its timers, and one wait at its host for the earliest.</summary>
internal sealed class Invocation : IDisposable
{
    private static readonly AsyncLocal<Invocation?> current = new();
    private static readonly HttpClient client = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = Timeout.InfiniteTimeSpan };

    private readonly string id;
    private readonly Uri clock;
    private readonly object gate = new();
    private readonly List<VirtualTimer> timers = []; // those that are due some time, in the order in which they were set
    private DateTimeOffset now;
    private DateTimeOffset? awaited; // what the host was asked for; null: nothing
    private bool ended;

    private Invocation(string id, Uri clock, DateTimeOffset now) => (this.id, this.clock, this.now) = (id, clock, now);

    /// <summary>The invocation of this flow of control; null: none, or one of a host that says no time.</summary>
    internal static Invocation? Current => current.Value is { ended: false } one ? one : null;

    /// <summary>Begins one, with what its host says in the attributes of its trace context.</summary>
    internal static Invocation? Begin(string id, IReadOnlyDictionary<string, string>? attributes)
    {
        if (attributes is null || !attributes.TryGetValue("redeliver.clock", out var clock) || !attributes.TryGetValue("redeliver.now", out var now)) return null;
        return current.Value = new Invocation(id, new Uri(clock + "/wait"), DateTimeOffset.Parse(now, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal));
    }

    /// <summary>Virtual time.</summary>
    internal DateTimeOffset Now
    {
        get { lock (gate) return now; }
    }

    /// <summary>Sets a timer, and waits at the host for the earliest.</summary>
    internal void Set(VirtualTimer timer, Action change)
    {
        lock (gate)
        {
            timers.Remove(timer);
            change();
            if (timer.Due is not null && !ended) timers.Add(timer);
            WaitForEarliest();
        }
    }

    private void WaitForEarliest()
    {
        var earliest = ended ? null : timers.Min(t => t.Due);
        if (earliest == awaited) return;
        awaited = earliest;
        _ = WaitAsync(earliest); // without one the host learns that nobody waits any more
    }

    private async Task WaitAsync(DateTimeOffset? until)
    {
        string stopped;
        DateTimeOffset? at = null;
        try
        {
            using var body = new StringContent(Request(until), Encoding.UTF8, "application/json");
            using var answer = await client.PostAsync(clock, body).ConfigureAwait(false);
            using var told = JsonDocument.Parse(await answer.Content.ReadAsStringAsync().ConfigureAwait(false));
            stopped = told.RootElement.TryGetProperty("stopped", out var word) ? word.GetString()! : "cancelled"; // a refusal: the call has ended
            if (told.RootElement.TryGetProperty("now", out var time)) at = time.GetDateTimeOffset();
        }
        catch (Exception e) when (e is HttpRequestException or JsonException) { stopped = "cancelled"; }
        if (until is not null && stopped != "replaced") Come(until.Value, stopped == "met" ? at : null);
    }

    private string Request(DateTimeOffset? until)
    {
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text))
        {
            json.WriteStartObject();
            json.WriteString("invocation", id);
            if (until is { } at) json.WriteString("until", at.UtcDateTime.ToString("O", CultureInfo.InvariantCulture));
            else json.WriteString("for", "0s");
            json.WriteEndObject();
        }
        return Encoding.UTF8.GetString(text.ToArray());
    }

    /// <summary>The time has come, or will not come any more.</summary>
    private void Come(DateTimeOffset until, DateTimeOffset? at)
    {
        List<VirtualTimer> due;
        lock (gate)
        {
            if (awaited != until) return; // another wait has taken its place
            awaited = null;
            if (at is null) // the host ends the call: its sleeps end with its cancellation
            {
                ended = true;
                timers.Clear();
                return;
            }
            now = at.Value;
            due = [.. timers.Where(t => t.Due <= now).OrderBy(t => t.Due)];
            foreach (var timer in due)
            {
                if (timer.Period > TimeSpan.Zero) timer.Due += timer.Period;
                else timers.Remove(timer);
            }
        }
        foreach (var timer in due) timer.Fire();
        lock (gate) WaitForEarliest();
    }

    /// <summary>The handler has returned.</summary>
    public void Dispose()
    {
        lock (gate)
        {
            ended = true;
            timers.Clear();
        }
        current.Value = null;
    }
}
