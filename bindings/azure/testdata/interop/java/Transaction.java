import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusTransactionContext;
import com.azure.messaging.servicebus.models.CompleteOptions;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One transaction on two messages of a queue, step by step: the first is dead-lettered, the second
 * completed, a third sent. It says each step, and goes on when it reads a line.
 *
 * <p>Usage: Transaction CONNECTION_STRING ADDRESS QUEUE commit|rollback
 */
public final class Transaction {
    public static void main(String[] args) throws Exception {
        ServiceBusClientBuilder client = new ServiceBusClientBuilder().connectionString(args[0]).customEndpointAddress("http://" + args[1])
            .retryOptions(new AmqpRetryOptions().setMaxRetries(0).setTryTimeout(Duration.ofSeconds(20)));
        ServiceBusSenderClient sender = client.sender().queueName(args[2]).buildClient();
        ServiceBusReceiverClient receiver = client.receiver().queueName(args[2]).disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient();
        List<ServiceBusReceivedMessage> got = new ArrayList<>();
        while (got.size() < 2) {
            receiver.receiveMessages(2 - got.size(), Duration.ofSeconds(20)).forEach(got::add);
        }
        ServiceBusTransactionContext transaction = receiver.createTransaction();
        step("declared");
        receiver.deadLetter(got.get(0), new DeadLetterOptions().setTransactionContext(transaction));
        step("dead-lettered");
        receiver.complete(got.get(1), new CompleteOptions().setTransactionContext(transaction));
        step("completed");
        sender.sendMessage(new ServiceBusMessage("three"), transaction);
        step("sent");
        try {
            if (args[3].equals("commit")) {
                receiver.commitTransaction(transaction);
            } else {
                receiver.rollbackTransaction(transaction);
            }
            step("discharged");
        } catch (ServiceBusException err) {
            step("refused: " + err.getMessage());
        }
        System.exit(0);
    }

    private static void step(String what) throws Exception {
        System.out.println(what);
        if (System.in.read() < 0) {
            System.exit(1);
        }
    }
}
