package suite;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.HttpMethod;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.RetryContext;
import com.microsoft.azure.functions.annotation.HttpTrigger;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import com.microsoft.azure.functions.annotation.ServiceBusQueueTrigger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Functions {
    /** Fails until the last retry, and says what it knows of the attempts before. */
    private static void untilTheLast(ExecutionContext context) {
        RetryContext retry = context.getRetryContext();
        Matcher before = Pattern.compile("attempt \\d+ fails").matcher(retry.getException().getMessage());
        if (retry.getRetrycount() < retry.getMaxretrycount()) {
            throw new IllegalStateException(String.format("attempt %d fails; retry %d of %d; before: %s",
                retry.getRetrycount() + 1, retry.getRetrycount(), retry.getMaxretrycount(), before.find() ? before.group() : "nothing"));
        }
    }

    public void queue(@QueueTrigger(name = "item", queueName = "x") String item, ExecutionContext context) {
        untilTheLast(context);
    }

    public void servicebus(@ServiceBusQueueTrigger(name = "item", queueName = "x", connection = "AzureWebJobsServiceBus") String item, ExecutionContext context) {
        untilTheLast(context);
    }

    public void http(@HttpTrigger(name = "item", methods = HttpMethod.GET) HttpRequestMessage<String> item, ExecutionContext context) {
        untilTheLast(context);
    }

    /** Each attempt ends with what comes closest to a TypeError. */
    public void literal(@HttpTrigger(name = "item", methods = HttpMethod.GET) HttpRequestMessage<String> item, ExecutionContext context) {
        Object text = "retry " + context.getRetryContext().getRetrycount();
        context.getLogger().log((java.util.logging.Level) text, "");
    }
}
