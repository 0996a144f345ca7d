package shop;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.OutputBinding;
import com.microsoft.azure.functions.annotation.HttpTrigger;
import com.microsoft.azure.functions.annotation.QueueOutput;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;

/** Functions that do what a worker has to bear, and then live. */
public class Odd {
    private static void deep(ExecutionContext context, int level) {
        context.getLogger().info("level " + level);
        deep(context, level + 1);
    }

    public void odd(@QueueTrigger(name = "msg", queueName = "q") String msg, @QueueOutput(name = "out", queueName = "q") OutputBinding<Object> out, ExecutionContext context) throws Exception {
        switch (msg) {
            case "gone":
                System.setOut(null);
                System.setErr(null);
                break;
            case "closed":
                System.out.close();
                System.err.close();
                break;
            case "no flush":
                System.setOut(new PrintStream(new ByteArrayOutputStream()) {
                    @Override
                    public void flush() {
                        throw new IllegalStateException("no flush");
                    }
                });
                break;
            case "deep":
                deep(context, 0);
                break;
            case "interrupt":
                Thread.currentThread().interrupt();
                break;
            case "target":
                throw new InvocationTargetException(null);
            case "loop":
                Exception one = new Exception("one");
                one.initCause(new Exception("two", one));
                throw one;
            case "controls":
                out.setValue(List.of("\t\n\f\b\r\u0001\"\\<"));
                return;
            case "exit":
                System.setErr(null);
                System.exit(3);
                break;
            default:
        }
        out.setValue("lives");
    }

    public void lengthy(@QueueTrigger(name = "msg", queueName = "q") String msg, @QueueOutput(name = "out", queueName = "q") OutputBinding<Object> out, ExecutionContext context) {
        switch (msg) {
            case "answer":
                out.setValue("x".repeat(200000));
                break;
            case "error":
                throw new IllegalStateException("y".repeat(200000));
            case "log":
                context.getLogger().info("z".repeat(200000));
                break;
            case "circular":
                List<Object> loop = new ArrayList<>();
                loop.add(loop);
                out.setValue(loop);
                break;
            default:
                out.setValue("lives");
        }
    }

    public String query(@HttpTrigger(name = "req") HttpRequestMessage<String> request) {
        try {
            return request.getQueryParameters().get("q") + " " + request.getUri();
        } catch (IllegalArgumentException error) {
            return request.getQueryParameters().get("q") + " is in no URI";
        }
    }

    /** How many MiB are used. */
    public int used(@QueueTrigger(name = "msg", queueName = "q") String msg) {
        System.gc();
        return (int) (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory() >> 20);
    }
}
