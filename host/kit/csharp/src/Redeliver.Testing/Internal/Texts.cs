using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;

namespace Redeliver.Testing.Internal;

/// <summary>What has happened, for people.</summary>
internal static class Texts
{
    private const int Most = 12; // lines at either end of a long life, and of logs

    internal static RedeliverAssertionException Failure(IReadOnlyList<Difference> differences, string more = "", ulong seed = 0)
    {
        var text = new StringBuilder();
        foreach (var one in differences)
        {
            if (text.Length > 0) text.Append('\n');
            if (!string.IsNullOrEmpty(one.Path)) text.Append(one.Path).Append(": ");
            text.Append(one.Message);
            if (!string.IsNullOrEmpty(one.Want) || !string.IsNullOrEmpty(one.Got)) text.Append("\n  want  ").Append(one.Want).Append("\n  got   ").Append(one.Got);
            foreach (var line in one.Timeline ?? []) text.Append("\n    ").Append(line);
        }
        var timeline = string.Join('\n', differences.Select(d => string.Join('\n', d.Timeline ?? [])).Where(t => t.Length > 0).Distinct());
        return new RedeliverAssertionException(text + more) { Differences = differences, Timeline = timeline, Seed = seed };
    }

    /// <summary>The last lines that handlers logged, below a failure.</summary>
    internal static string Logs(IReadOnlyList<HandlerLog>? logs)
    {
        logs = [.. (logs ?? []).Where(Shown)];
        if (logs.Count == 0) return "";
        var text = new StringBuilder("\nlogs");
        if (logs.Count > Most) text.Append(CultureInfo.InvariantCulture, $"\n    … {logs.Count - Most} lines");
        foreach (var line in logs.Skip(Math.Max(0, logs.Count - Most))) text.Append("\n    ").Append(line);
        return text.ToString();
    }

    internal static HandlerLog Line(JournalRecord record) => new(record.Message ?? "", record.Level, record.Function, record.Invocation);

    /// <summary>The name of a test as that of a file.</summary>
    internal static string FileName(string? test) => string.Concat((test ?? "test").Select(c => char.IsLetterOrDigit(c) || c is '.' or '-' or '_' ? c : '_'));

    /// <summary>Whether a line is for people: what the worker tells again of a failure is for who looks at details.</summary>
    internal static bool Shown(HandlerLog line) => line.Level is not ("debug" or "trace");

    /// <summary>What explain says.</summary>
    internal static string Lives(JsonObject told)
    {
        var text = new StringBuilder();
        foreach (var life in told["lives"] as JsonArray ?? [])
        {
            if (life is null) continue;
            text.Append("message ").Append(life["message"] ?? life["number"]).Append(" of ").Append(life["source"]);
            if (life["function"] is { } function) text.Append(", function ").Append(function).Append(" (").Append(life["trigger"]).Append(')');
            text.Append('\n');
            if (life["policy"] is { } policy) text.Append("  retry     ").Append(policy).Append('\n');
            var lines = Entries(life["entries"] as JsonArray ?? []);
            if (lines.Count > 2 * Most)
            {
                var between = lines.Count - 2 * Most;
                lines.RemoveRange(Most, between);
                lines.Insert(Most, $"    … {between} lines");
            }
            foreach (var line in lines) text.Append(line).Append('\n');
            if (life["next"] is { } next) text.Append("  next      ").Append(next).Append('\n');
        }
        return text.Length == 0 ? "nothing has happened" : text.ToString().TrimEnd('\n');
    }

    private static List<string> Entries(JsonArray entries)
    {
        var lines = new List<string>();
        DateTimeOffset? begin = null;
        foreach (var entry in entries)
        {
            if (entry is null) continue;
            var passed = "";
            if ((string?)entry["time"] is { } time)
            {
                var at = DateTimeOffset.Parse(time, CultureInfo.InvariantCulture);
                passed = string.Create(CultureInfo.InvariantCulture, $"+{(at - (begin ??= at)).TotalSeconds:0.#######}s");
            }
            lines.Add($"    {passed,-13} {(entry["attempt"] is null ? "" : "  ")}{entry["text"]}");
        }
        return lines;
    }
}
