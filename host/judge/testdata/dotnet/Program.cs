using Microsoft.Azure.Functions.Worker;
using Microsoft.Azure.Functions.Worker.Builder;
using Microsoft.Azure.Functions.Worker.Middleware;
using Microsoft.Extensions.Hosting;

// One program in both forms of an app: with the ASP.NET Core integration and without.
var builder = FunctionsApplication.CreateBuilder(args);
if (Environment.GetEnvironmentVariable("JUDGE_FORM") == "aspnet")
{
    builder.ConfigureFunctionsWebApplication();
}
builder.UseMiddleware<Middleware>();
builder.Build().Run();

// What the query's member "middleware" asks for.
class Middleware : IFunctionsWorkerMiddleware
{
    public async Task Invoke(FunctionContext context, FunctionExecutionDelegate next)
    {
        var query = context.BindingContext.BindingData.TryGetValue("Query", out var text) ? text as string ?? "" : "";
        if (query.Contains("before"))
        {
            throw new InvalidOperationException("before the function");
        }
        if (query.Contains("swallow"))
        {
            try { await next(context); } catch (Exception) { }
            return;
        }
        if (query.Contains("short"))
        {
            return;
        }
        await next(context);
        if (query.Contains("after"))
        {
            throw new InvalidOperationException("after the function");
        }
        if (query.Contains("replace"))
        {
            context.GetInvocationResult().Value = "replaced";
        }
        if (query.Contains("header") && context.GetHttpResponseData() is { } response)
        {
            response.Headers.Add("X-Middleware", "was here");
        }
    }
}
