using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;

namespace Redeliver.Testing.Internal;

/// <summary>Calls of a kit, whose refusals are exceptions.</summary>
internal sealed class KitHttp : IDisposable
{
    private static readonly string agent = "redeliver-testing-dotnet/" + (typeof(KitHttp).Assembly.GetName().Version?.ToString(3) ?? "0");
    private readonly HttpClient client;
    private readonly string token;
    private readonly Func<string> lastWords;

    internal KitHttp(Uri address, string token, Func<string> lastWords)
    {
        (this.token, this.lastWords) = (token, lastWords);
        client = new HttpClient(Handler()) { BaseAddress = address, Timeout = Timeout.InfiniteTimeSpan }; // the hosts have limits of their own
        client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", token);
        client.DefaultRequestHeaders.UserAgent.ParseAdd(agent);
    }

    // HTTP_PROXY must not see loopback.
    private static SocketsHttpHandler Handler() => new() { UseProxy = false, UseCookies = false, AllowAutoRedirect = false, ConnectTimeout = TimeSpan.FromSeconds(30) };

    internal async Task<T> CallAsync<T>(HttpMethod method, string path, HttpContent? body, JsonTypeInfo<T> contract, CancellationToken cancellation)
    {
        var data = await BytesAsync(method, path, body, cancellation).ConfigureAwait(false);
        try
        {
            return JsonSerializer.Deserialize(data, contract) ?? throw new RedeliverException($"{method} {path} answered null");
        }
        catch (JsonException e)
        {
            throw new RedeliverException($"{method} {path}: this version of the kit does not understand the answer: {e.Message}", e) { Code = "wrong_version" };
        }
    }

    internal async Task<byte[]> BytesAsync(HttpMethod method, string path, HttpContent? body, CancellationToken cancellation)
    {
        using var request = new HttpRequestMessage(method, path) { Content = body };
        try
        {
            using var answer = await client.SendAsync(request, cancellation).ConfigureAwait(false);
            var data = await answer.Content.ReadAsByteArrayAsync(cancellation).ConfigureAwait(false);
            return answer.IsSuccessStatusCode ? data : throw Refused($"{method} {path}: status {(int)answer.StatusCode}", data);
        }
        catch (HttpRequestException e)
        {
            throw new RedeliverException($"the kit does not answer: {e.Message}{lastWords()}", e) { Code = "kit_ended" };
        }
    }

    private static Exception Refused(string what, byte[] body)
    {
        Refusal? told = null;
        try { told = JsonSerializer.Deserialize(body, Wire.Default.Refusal); }
        catch (JsonException) { }
        if (told?.Code is not { } code) return new RedeliverException($"{what} {Encoding.UTF8.GetString(body)}".TrimEnd());
        if (code == "step_failed") return Texts.Failure(told.Failures ?? [new Difference(null, told.Error ?? what)]);
        return new RedeliverException(told.Hint is { Length: > 0 } ? $"{told.Error}\n{told.Hint}" : told.Error ?? what) { Code = code, Hint = told.Hint ?? "" };
    }

    internal static HttpContent Json(JsonObject value) => new StringContent(value.ToJsonString(), Encoding.UTF8, "application/json");

    internal static HttpContent Bytes(ReadOnlyMemory<byte> value, string type = "application/octet-stream")
    {
        var content = new ReadOnlyMemoryContent(value);
        content.Headers.ContentType = MediaTypeHeaderValue.Parse(type);
        return content;
    }

    /// <summary>A client of the user's own for the functions of a host: what the kit itself refuses is an exception there, and no answer.</summary>
    internal HttpClient ClientOf(string path) => new(new Guest(this)) { BaseAddress = new Uri(client.BaseAddress!, path), Timeout = Timeout.InfiniteTimeSpan };

    public void Dispose() => client.Dispose();

    private sealed class Guest(KitHttp kit) : DelegatingHandler(Handler())
    {
        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            if (request.Headers.TryGetValues("Authorization", out var own)) // the function's, beside the kit's
            {
                request.Headers.TryAddWithoutValidation("X-Redeliver-Authorization", own);
                request.Headers.Remove("Authorization");
            }
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", kit.token);
            HttpResponseMessage answer;
            try { answer = await base.SendAsync(request, cancellationToken).ConfigureAwait(false); }
            catch (HttpRequestException e) { throw new RedeliverException($"the kit does not answer: {e.Message}{kit.lastWords()}", e) { Code = "kit_ended" }; }
            if (!answer.Headers.Contains("Redeliver-Refusal")) return answer;
            using (answer) throw Refused($"{request.Method} {request.RequestUri}", await answer.Content.ReadAsByteArrayAsync(cancellationToken).ConfigureAwait(false));
        }
    }
}
