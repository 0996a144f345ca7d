using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Azure.Functions.Worker;

// Functions that take requests as ASP.NET Core has them.
public class Web
{
    [Function("WebEcho")]
    public async Task<IActionResult> Echo([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/echo/{part?}")] HttpRequest req, FunctionContext context)
    {
        var data = context.BindingContext.BindingData;
        return new ContentResult
        {
            StatusCode = 200,
            ContentType = "application/json",
            Content = JsonSerializer.Serialize(new
            {
                req.Method, Path = req.Path.Value, Query = req.QueryString.Value, req.Scheme, req.ContentType, req.ContentLength,
                Headers = Given.Headers(req.Headers.ToDictionary(h => h.Key, h => h.Value.ToString())),
                Route = req.RouteValues.Where(v => v.Key == "part").ToDictionary(v => v.Key, v => v.Value?.ToString()),
                Cookies = req.Cookies.ToDictionary(c => c.Key, c => c.Value),
                Body = await new StreamReader(req.Body).ReadToEndAsync(),
                Data = Given.Sorted(data),
                Inputs = context.FunctionDefinition.InputBindings.Keys.ToArray(),
            }),
        };
    }

    [Function("WebAction")]
    public IActionResult? Action([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/action/{what}/{code:int?}")] HttpRequest req, string what, int? code)
    {
        req.HttpContext.Response.Headers["X-What"] = what;
        switch (what)
        {
            case "ok": return new OkResult();
            case "text": return new OkObjectResult("a text");
            case "empty": return new OkObjectResult("");
            case "object": return new OkObjectResult(new Thing("ü", 3, null));
            case "list": return new OkObjectResult(new[] { 1, 2 });
            case "number": return new OkObjectResult(7);
            case "bytes": return new OkObjectResult(new byte[] { 1, 2, 255 });
            case "nothing": return new EmptyResult();
            case "null": return null;
            case "oknull": return new OkObjectResult(null);
            case "status": return new StatusCodeResult(code ?? 200);
            case "statusobject": return new ObjectResult("x") { StatusCode = code };
            case "created": return new CreatedResult("/there/1", new Thing("made", 1, "x"));
            case "accepted": return new AcceptedResult("/later", null);
            case "nocontent": return new NoContentResult();
            case "notfound": return new NotFoundObjectResult(new { missing = true });
            case "bad": return new BadRequestObjectResult("bad");
            case "problem": return new ObjectResult(new ProblemDetails { Title = "broken", Status = 422, Detail = "d" }) { StatusCode = 422 };
            case "redirect": return new RedirectResult("/elsewhere?x=1", code == 301);
            case "json": return new JsonResult(new Thing("j", 1, null)) { StatusCode = code, ContentType = "application/vnd.x+json" };
            case "content": return new ContentResult { Content = "<p>ü</p>", ContentType = "text/html", StatusCode = code };
            case "contentnone": return new ContentResult { Content = "plain" };
            case "file": return new FileContentResult(Encoding.UTF8.GetBytes("file"), "application/pdf") { FileDownloadName = "a b.pdf" };
            case "stream": return new FileStreamResult(new MemoryStream(Encoding.UTF8.GetBytes("stream")), "text/x-own");
            case "cookies":
                req.HttpContext.Response.Cookies.Append("plain", "1;2");
                req.HttpContext.Response.Cookies.Append("full", "x", new CookieOptions { Domain = "a.b", Path = "/p", MaxAge = TimeSpan.FromMinutes(1), Secure = true, HttpOnly = true, SameSite = SameSiteMode.Lax });
                req.HttpContext.Response.Cookies.Delete("gone");
                return new OkResult();
            case "headers":
                req.HttpContext.Response.Headers.Append("X-Two", "a");
                req.HttpContext.Response.Headers.Append("X-Two", "b");
                req.HttpContext.Response.Headers["ETag"] = "\"e\"";
                req.HttpContext.Response.Headers["Content-Language"] = "de";
                req.HttpContext.Response.Headers["Cache-Control"] = "no-store";
                return new OkObjectResult("headers");
            case "throw": throw new InvalidOperationException("the function fails");
            case "cancel": throw new OperationCanceledException("cancelled");
            case "badrequest": throw new BadHttpRequestException("bad", 413);
            case "aggregate": throw new AggregateException(new InvalidOperationException("one"), new ArgumentException("two"));
        }
        return new NotFoundResult();
    }

    [Function("WebWrites")]
    public async Task Writes([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/writes/{what}")] HttpRequest req, string what)
    {
        var response = req.HttpContext.Response;
        switch (what)
        {
            case "nothing": return;
            case "status": response.StatusCode = 418; return;
            case "text": await response.WriteAsync("written"); return;
            case "type": response.ContentType = "text/csv"; await response.WriteAsync("a,b"); return;
            case "json": await response.WriteAsJsonAsync(new Thing("w", 1, null)); return;
            case "length": response.ContentLength = 3; await response.WriteAsync("abc"); return;
            case "parts":
                await response.WriteAsync("one ");
                await response.Body.FlushAsync();
                await response.WriteAsync("two");
                return;
            case "big": await response.WriteAsync(new string('x', 100000)); return;
            case "headers": response.Headers["X-Own"] = "1"; response.StatusCode = 201; return;
            case "throwlate":
                await response.WriteAsync("begun ");
                await response.Body.FlushAsync();
                throw new InvalidOperationException("too late");
            case "throwunsent":
                response.StatusCode = 201;
                response.Headers["X-Own"] = "1";
                throw new InvalidOperationException("nothing was sent");
            case "redirect": response.Redirect("/there"); return;
            case "body": await req.Body.CopyToAsync(response.Body); return;
        }
        response.StatusCode = 404;
    }

    [Function("WebString")]
    public string? String([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/string/{what}")] HttpRequest req, string what) => what == "null" ? null : what;

    [Function("WebNumber")]
    public int Number([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/number")] HttpRequest req) => 7;

    [Function("WebObject")]
    public Thing? Object([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/object/{what}")] HttpRequest req, string what) => what == "null" ? null : new Thing(what, 1, null);

    [Function("WebTask")]
    public Task Void([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/task")] HttpRequest req) => Task.CompletedTask;

    [Function("WebResults")]
    public IResult Result([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/results/{what}/{code:int?}")] HttpRequest req, string what, int? code) => what switch
    {
        "ok" => Results.Ok(),
        "object" => Results.Ok(new Thing("r", 1, null)),
        "text" => Results.Text("a text"),
        "content" => Results.Content("<p>", "text/html", Encoding.UTF8, code),
        "json" => Results.Json(new Thing("r", 1, null), statusCode: code),
        "bytes" => Results.Bytes([1, 2], "image/png"),
        "status" => Results.StatusCode(code ?? 200),
        "created" => Results.Created("/there", new Thing("c", 1, null)),
        "nocontent" => Results.NoContent(),
        "problem" => Results.Problem("broken", statusCode: code),
        "redirect" => Results.Redirect("/there", permanent: true),
        "empty" => Results.Empty,
        _ => Results.NotFound(),
    };

    [Function("WebBody")]
    public IActionResult Body([HttpTrigger(AuthorizationLevel.Anonymous, "post", Route = "web/body")] HttpRequest req, [Microsoft.Azure.Functions.Worker.Http.FromBody] Thing thing) => new OkObjectResult(thing);

    [Function("WebMulti")]
    public Several Multi([HttpTrigger(AuthorizationLevel.Anonymous, Route = "web/multi/{what}")] HttpRequest req, string what) => new()
    {
        Queue = what == "noqueue" ? null : what,
        Result = what == "noresult" ? null : new OkObjectResult(what),
    };

    public class Several
    {
        [QueueOutput("judge-%JUDGE_RUN%-several")]
        public string? Queue { get; set; }

        [HttpResult]
        public IActionResult? Result { get; set; }
    }
}

public record Thing(string? Name, int Count, string? Note);
