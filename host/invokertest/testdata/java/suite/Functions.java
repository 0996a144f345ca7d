package suite;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.OutputBinding;
import com.microsoft.azure.functions.RetryContext;
import com.microsoft.azure.functions.annotation.BindingName;
import com.microsoft.azure.functions.annotation.QueueOutput;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;

/** The functions of the suite, each with a function.json that names its entry point. */
public class Functions {
    public void nothing(@QueueTrigger(name = "item", queueName = "nothing") String item) {
    }

    public void echo(@QueueTrigger(name = "item", queueName = "echo") Object item, @QueueOutput(name = "out", queueName = "done") OutputBinding<Object> out) {
        out.setValue(item);
    }

    public void echoText(@QueueTrigger(name = "item", queueName = "echo") String item, @QueueOutput(name = "out", queueName = "done") OutputBinding<String> out) {
        out.setValue(item);
    }

    public void echoBytes(@QueueTrigger(name = "item", queueName = "echo") byte[] item, @QueueOutput(name = "out", queueName = "done") OutputBinding<byte[]> out) {
        out.setValue(item);
    }

    public void echoTexts(@QueueTrigger(name = "item", queueName = "echo") List<String> item, @QueueOutput(name = "out", queueName = "done") OutputBinding<List<String>> out) {
        out.setValue(item);
    }

    public void echoBlocks(@QueueTrigger(name = "item", queueName = "echo") List<byte[]> item, @QueueOutput(name = "out", queueName = "done") OutputBinding<List<byte[]>> out) {
        out.setValue(item);
    }

    public void seen(
        @QueueTrigger(name = "item", queueName = "seen") String item, @BindingName("Id") String id,
        @QueueOutput(name = "out", queueName = "done") OutputBinding<String> out, ExecutionContext context) {
        RetryContext retry = context.getRetryContext();
        String text = context.getInvocationId() + " " + context.getFunctionName() + " " + id + " " + context.getTraceContext().getTraceparent();
        text += " retry " + retry.getRetrycount() + "/" + retry.getMaxretrycount();
        if (!retry.getException().getMessage().isEmpty()) {
            text += " after " + retry.getException().getMessage();
        }
        out.setValue(text);
    }

    public void fail(@QueueTrigger(name = "item", queueName = "fail") String item, @QueueOutput(name = "out", queueName = "done") OutputBinding<String> out) {
        out.setValue("lost");
        throw new NoSuchElementException(item);
    }

    public void log(@QueueTrigger(name = "item", queueName = "log") int item, ExecutionContext context) {
        Level[] levels = {Level.INFO, Level.WARNING, Level.SEVERE};
        for (int i = 0; i < item; i++) {
            context.getLogger().log(levels[i % 3], "line " + i);
        }
    }

    static class Ring {
        Ring ring = this;
        Thread thread = Thread.currentThread();
    }

    public Object odd(@QueueTrigger(name = "item", queueName = "odd") String item, @QueueOutput(name = "out", queueName = "done") OutputBinding<Object> out) {
        out.setValue(new Ring());
        return new Object();
    }

    public void noise(@QueueTrigger(name = "item", queueName = "noise") int item) {
        for (int i = 0; i < item; i++) {
            System.out.write(new byte[] {0, (byte) 255, '{', '\n'}, 0, 4);
            System.err.println("noise ".repeat(20));
        }
        System.out.println("x".repeat(200 << 10));
    }

    public void exit(@QueueTrigger(name = "item", queueName = "exit") int item) {
        System.exit(item);
    }

    public void fatal(@QueueTrigger(name = "item", queueName = "fatal") String item) {
        Runtime.getRuntime().halt(134);
    }

    public void wait(@QueueTrigger(name = "item", queueName = "wait") String item) throws InterruptedException {
        new CountDownLatch(1).await();
    }

    public void hang(@QueueTrigger(name = "item", queueName = "hang") String item) {
        for (;;) {
            Thread.onSpinWait();
        }
    }
}
