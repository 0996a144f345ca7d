using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>Plays what all kits play.</summary>
public class ConformanceTests
{
    private static readonly JsonObject file = (JsonObject)JsonNode.Parse(File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "conformance.json")))!;

    public static TheoryData<string> Names => [.. file["cases"]!.AsArray().Select(c => (string)c!["name"]!)];

    [Theory, MemberData(nameof(Names))]
    public async Task Case(string name)
    {
        var one = file["cases"]!.AsArray().Single(c => (string)c!["name"]! == name)!;
        var kit = await RedeliverKit.SharedAsync();
        using var client = new HttpClient { BaseAddress = kit.Address };
        client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", (string)JsonNode.Parse(kit.Line)!["token"]!);
        var host = "kit/hosts/" + (string)(await SendAsync(client, HttpMethod.Post, "kit/hosts", one["options"], null)).Answer!["id"]!;
        foreach (var step in one["steps"]!.AsArray())
        {
            var (method, path) = step!["get"] is { } get ? (HttpMethod.Get, (string)get!) : (HttpMethod.Post, (string)step["post"]!);
            var (status, answer) = await SendAsync(client, method, host + path, step["send"], (string?)step["text"]);
            Assert.True(step["status"] is { } want ? status == (int)want! : status < 300, $"{method} {path}: {status} {answer}");
            Assert.Null(Differs(path, step["answer"], answer));
        }
        var end = (await SendAsync(client, HttpMethod.Delete, host, null, null)).Answer;
        Assert.Null(Differs("end", one["end"] ?? new JsonObject(), end));
        if (one["end"] is null) Assert.Equal("{}", end!.ToJsonString());
    }

    private static async Task<(int Status, JsonNode? Answer)> SendAsync(HttpClient client, HttpMethod method, string path, JsonNode? body, string? text)
    {
        using var request = new HttpRequestMessage(method, path);
        if (text is not null) request.Content = new StringContent(text, Encoding.UTF8, "application/octet-stream");
        else if (body is not null) request.Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json");
        using var answer = await client.SendAsync(request);
        var said = await answer.Content.ReadAsStringAsync();
        return ((int)answer.StatusCode, said.Length == 0 ? null : JsonNode.Parse(said));
    }

    /// <summary>Where an answer has not what is wanted; null: nowhere.</summary>
    private static string? Differs(string at, JsonNode? want, JsonNode? got)
    {
        switch (want)
        {
            case JsonObject members:
                return members.Select(m => Differs($"{at}.{m.Key}", m.Value, (got as JsonObject)?[m.Key])).FirstOrDefault(wrong => wrong is not null);
            case JsonArray list:
                if (got is not JsonArray has || has.Count != list.Count) return $"{at} has not {list.Count} members: {got}";
                return list.Select((one, i) => Differs($"{at}[{i}]", one, has[i])).FirstOrDefault(wrong => wrong is not null);
            case JsonValue text when text.TryGetValue(out string? pattern) && pattern is ['/', .., '/']:
                return Regex.IsMatch((string?)got ?? "", pattern[1..^1]) ? null : $"{at} is {got}, want {pattern}";
            default:
                return JsonNode.DeepEquals(want, got) ? null : $"{at} is {got?.ToJsonString() ?? "null"}, want {want?.ToJsonString() ?? "null"}";
        }
    }
}
