package com.example.orders;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.HttpMethod;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.HttpResponseMessage;
import com.microsoft.azure.functions.HttpStatus;
import com.microsoft.azure.functions.OutputBinding;
import com.microsoft.azure.functions.RetryContext;
import com.microsoft.azure.functions.annotation.AuthorizationLevel;
import com.microsoft.azure.functions.annotation.ExponentialBackoffRetry;
import com.microsoft.azure.functions.annotation.FunctionName;
import com.microsoft.azure.functions.annotation.HttpTrigger;
import com.microsoft.azure.functions.annotation.QueueOutput;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import com.microsoft.azure.functions.annotation.TimerTrigger;
import java.util.Optional;

/** The orders app. The policy in host.json (4 retries) covers every function without one of its own. */
public class Functions {
    private static final String STORAGE = "AzureWebJobsStorage";

    /** Answers POST /api/orders and puts the order on the queue. */
    @FunctionName("PlaceOrder")
    public HttpResponseMessage placeOrder(
        @HttpTrigger(name = "req", methods = HttpMethod.POST, route = "orders", authLevel = AuthorizationLevel.ANONYMOUS) HttpRequestMessage<Optional<Order>> request,
        @QueueOutput(name = "orders", queueName = "orders", connection = STORAGE) OutputBinding<Order> orders) {
        Optional<Order> order = request.getBody().filter(o -> o.id != null);
        if (order.isEmpty()) { // an answer, not a failure
            return request.createResponseBuilder(HttpStatus.BAD_REQUEST).body("want {\"id\":\"...\"}\n").build();
        }
        orders.setValue(order.get());
        return request.createResponseBuilder(HttpStatus.ACCEPTED).body("order " + order.get().id + " accepted\n").build();
    }

    /** Handles one order. An exception is tried again by the policy, and after the last attempt by the queue. */
    @FunctionName("ProcessOrder")
    @QueueOutput(name = "$return", queueName = "invoices", connection = STORAGE)
    public Invoice processOrder(@QueueTrigger(name = "message", queueName = "orders", connection = STORAGE) Order order, ExecutionContext context) {
        RetryContext retry = context.getRetryContext(); // never null: 0 of 0 without a policy
        if (retry.getMaxretrycount() > 0 && retry.getRetrycount() == retry.getMaxretrycount()) {
            context.getLogger().warning("last attempt of this delivery");
        }
        if (order.fail || retry.getRetrycount() < order.flaky) {
            throw new IllegalStateException("payment service unavailable");
        }
        context.getLogger().info("order " + order.id + " processed");
        return new Invoice(order.id);
    }

    /** The policy takes the place of the one in host.json, as a whole. */
    @FunctionName("SendInvoice")
    @ExponentialBackoffRetry(maxRetryCount = 3, minimumInterval = "00:00:02", maximumInterval = "00:01:00")
    public void sendInvoice(@QueueTrigger(name = "message", queueName = "invoices", connection = STORAGE) Invoice invoice, ExecutionContext context) {
        context.getLogger().info("invoice of order " + invoice.order + " sent");
    }

    @FunctionName("Heartbeat")
    public void heartbeat(@TimerTrigger(name = "timer", schedule = "0 */5 * * * *") String timer, ExecutionContext context) {
        context.getLogger().info("still here: " + timer);
    }

    /** Fails until the last retry, and says what the platform tells of the attempts before. */
    @FunctionName("RetryQueue")
    @ExponentialBackoffRetry(maxRetryCount = 5, minimumInterval = "00:00:10", maximumInterval = "00:15:00")
    public void retryQueue(@QueueTrigger(name = "message", queueName = "retries", connection = STORAGE) String message, ExecutionContext context) {
        RetryContext retry = context.getRetryContext();
        String before = retry.getException().getMessage();
        context.getLogger().info("message " + message + ": retry " + retry.getRetrycount() + " of " + retry.getMaxretrycount() + (before.isEmpty() ? "" : ", after: " + before));
        if (retry.getRetrycount() < retry.getMaxretrycount()) {
            throw new IllegalStateException("attempt " + (retry.getRetrycount() + 1) + " fails");
        }
    }
}
