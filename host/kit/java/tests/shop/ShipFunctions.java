package shop;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.annotation.FixedDelayRetry;
import com.microsoft.azure.functions.annotation.FunctionName;
import com.microsoft.azure.functions.annotation.ServiceBusQueueTrigger;

public class ShipFunctions {
    private final Carrier carrier;

    public ShipFunctions() {
        this(order -> "label of " + order);
    }

    ShipFunctions(Carrier carrier) {
        this.carrier = carrier;
    }

    @FunctionName("Ship")
    @FixedDelayRetry(maxRetryCount = 4, delayInterval = "00:00:30")
    public void ship(
        @ServiceBusQueueTrigger(name = "order", queueName = "parcels", connection = "ServiceBusConnection") String order,
        ExecutionContext context) {
        context.getLogger().info("booking " + order + ", retry " + context.getRetryContext().getRetrycount());
        carrier.book(order);
    }
}
