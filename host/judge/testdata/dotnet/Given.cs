using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.Azure.Functions.Worker;

// What the functions tell of what they were given.
public static class Given
{
    static readonly object Lock = new();
    static readonly Dictionary<string, int> Failed = [];

    public static void Called(FunctionContext context, object? data)
    {
        var name = context.FunctionDefinition.Name;
        var retry = context.RetryContext;
        var line = JsonSerializer.Serialize(new
        {
            Function = name, Data = data, Metadata = Sorted(context.BindingContext.BindingData),
            Retry = retry == null ? null : new { Count = retry.RetryCount, Max = retry.MaxRetryCount },
        });
        lock (Lock)
        {
            File.AppendAllText(Environment.GetEnvironmentVariable("JUDGE_GIVEN")!, line + "\n");
            var times = Regex.Match(name, @"^Fails(\d*)");
            if (!times.Success)
            {
                return;
            }
            Failed[name] = Failed.GetValueOrDefault(name) + 1;
            if (times.Groups[1].Value == "" || Failed[name] <= int.Parse(times.Groups[1].Value))
            {
                throw new InvalidOperationException("boom");
            }
            Failed[name] = 0;
        }
    }

    public static SortedDictionary<string, object?> Sorted(IReadOnlyDictionary<string, object?> data) =>
        new(data.ToDictionary(d => d.Key, d => d.Value), StringComparer.Ordinal);

    // The headers without those that a server or a client of its own adds.
    public static SortedDictionary<string, string> Headers(IDictionary<string, string> headers) =>
        new(headers.Where(h => !h.Key.StartsWith("x-ms-", StringComparison.OrdinalIgnoreCase)).ToDictionary(h => h.Key, h => h.Value), StringComparer.Ordinal);
}
