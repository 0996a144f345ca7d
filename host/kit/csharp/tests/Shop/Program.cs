using Microsoft.Azure.Functions.Worker.Builder;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Shop;

var builder = FunctionsApplication.CreateBuilder(args);
builder.Services.AddSingleton<ICarrier, HttpCarrier>();
builder.Services.TryAddSingleton(TimeProvider.System);
builder.Build().Run();
