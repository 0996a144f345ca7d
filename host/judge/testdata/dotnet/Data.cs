using System.Net;
using System.Text.Json;
using Microsoft.Azure.Functions.Worker;
using Microsoft.Azure.Functions.Worker.Http;

// Functions that take requests as the worker has them.
public class Data
{
    [Function("DataEcho")]
    public async Task<HttpResponseData> Echo([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/echo/{part?}")] HttpRequestData req, FunctionContext context)
    {
        var response = req.CreateResponse(HttpStatusCode.OK);
        await response.WriteAsJsonAsync(new
        {
            req.Method, Url = req.Url.ToString(), Query = req.Query.AllKeys.ToDictionary(k => k ?? "", k => req.Query[k]),
            Headers = Given.Headers(req.Headers.ToDictionary(h => h.Key, h => string.Join("|", h.Value))),
            Cookies = req.Cookies.Select(c => c.Name + "=" + c.Value).ToArray(),
            Identities = req.Identities.Select(i => i.AuthenticationType + " " + i.Claims.Count() + string.Concat(i.Claims.Select(c => " " + c.Type + "=" + c.Value))).ToArray(),
            Body = await req.ReadAsStringAsync(),
            Data = Given.Sorted(context.BindingContext.BindingData),
        });
        return response;
    }

    [Function("DataAnswer")]
    public async Task<HttpResponseData?> Answer([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/answer/{what}/{code:int?}")] HttpRequestData req, string what, int? code)
    {
        var response = req.CreateResponse((HttpStatusCode)(code ?? 200));
        switch (what)
        {
            case "empty": return response;
            case "null": return null;
            case "text": await response.WriteStringAsync("a text"); return response;
            case "bytes": await response.WriteBytesAsync([1, 2, 255]); return response;
            case "json": await response.WriteAsJsonAsync(new Thing("ü", 3, null)); return response;
            case "jsontype": await response.WriteAsJsonAsync(new Thing("ü", 3, null), "application/vnd.x+json"); return response;
            case "type": response.Headers.Add("Content-Type", "text/html"); await response.WriteStringAsync("<p>ü</p>"); return response;
            case "body": response.Body = req.Body; return response;
            case "headers":
                response.Headers.Add("X-Two", ["a", "b"]);
                response.Headers.Add("X-One", "1");
                response.Headers.Add("ETag", "\"e\"");
                response.Headers.Add("Content-Language", "de");
                response.Headers.Add("Cache-Control", "no-store");
                return response;
            case "cookies":
                response.Cookies.Append("plain", "1;2");
                response.Cookies.Append(new HttpCookie("full", "x") { Domain = "a.b", Path = "/p", MaxAge = 60, Secure = true, HttpOnly = true, SameSite = SameSite.Lax });
                response.Cookies.Append(new HttpCookie("dated", "x") { Expires = new DateTimeOffset(2031, 2, 3, 4, 5, 6, TimeSpan.Zero), SameSite = SameSite.ExplicitNone });
                return response;
            case "throw": throw new InvalidOperationException("the function fails");
            case "cancel": throw new OperationCanceledException("cancelled");
        }
        response.StatusCode = HttpStatusCode.NotFound;
        return response;
    }

    [Function("DataString")]
    public string? String([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/string/{what}")] HttpRequestData req, string what) => what == "null" ? null : what;

    [Function("DataNumber")]
    public int Number([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/number")] HttpRequestData req) => 7;

    [Function("DataObject")]
    public Thing? Object([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/object/{what}")] HttpRequestData req, string what) => what == "null" ? null : new Thing(what, 1, null);

    [Function("DataList")]
    public string[] List([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/list")] HttpRequestData req) => ["a", "b"];

    [Function("DataVoid")]
    public void Void([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/void")] HttpRequestData req) { }

    [Function("DataThing")]
    public string Poco([HttpTrigger(AuthorizationLevel.Anonymous, "post", Route = "data/thing")] Thing thing) => JsonSerializer.Serialize(thing);

    [Function("DataBody")]
    public string Body([HttpTrigger(AuthorizationLevel.Anonymous, "post", Route = "data/body")] HttpRequestData req, [FromBody] Thing thing) => JsonSerializer.Serialize(thing);

    [Function("DataRoute")]
    public string Route([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/route/{id:int}/{when:datetime?}")] HttpRequestData req, int id, DateTime? when) => $"{id + 1} {when:O}";

    [Function("DataMulti")]
    public Several Multi([HttpTrigger(AuthorizationLevel.Anonymous, Route = "data/multi/{what}")] HttpRequestData req, string what)
    {
        HttpResponseData? response = null;
        if (what != "noresult")
        {
            response = req.CreateResponse(HttpStatusCode.Accepted);
            response.WriteString(what);
        }
        return new Several { Queue = what == "noqueue" ? null : what, Result = response };
    }

    public class Several
    {
        [QueueOutput("judge-%JUDGE_RUN%-several")]
        public string? Queue { get; set; }

        [HttpResult]
        public HttpResponseData? Result { get; set; }
    }
}
