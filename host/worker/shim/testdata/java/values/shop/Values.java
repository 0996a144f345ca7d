package shop;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.HttpResponseMessage;
import com.microsoft.azure.functions.HttpStatus;
import com.microsoft.azure.functions.HttpStatusType;
import com.microsoft.azure.functions.OutputBinding;
import com.microsoft.azure.functions.annotation.BindingName;
import com.microsoft.azure.functions.annotation.BlobOutput;
import com.microsoft.azure.functions.annotation.CustomBinding;
import com.microsoft.azure.functions.annotation.HttpTrigger;
import com.microsoft.azure.functions.annotation.QueueOutput;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.stream.Collectors;

public class Values {
    private int calls;

    public String text(@QueueTrigger(name = "in", queueName = "q") String in) {
        return in + " " + ++calls; // each call has an instance of its own
    }

    public static String number(@QueueTrigger(name = "in", queueName = "q") int in) {
        return "int " + in;
    }

    public String large(@QueueTrigger(name = "in", queueName = "q") Long in) {
        return "Long " + in;
    }

    public String real(@QueueTrigger(name = "in", queueName = "q") double in) {
        return "double " + in;
    }

    public String decimal(@QueueTrigger(name = "in", queueName = "q") BigDecimal in) {
        return "BigDecimal " + in;
    }

    public String truth(@QueueTrigger(name = "in", queueName = "q") boolean in) {
        return "boolean " + in;
    }

    public String size(@QueueTrigger(name = "in", queueName = "q") Order.Size in) {
        return in.name();
    }

    public String bytes(@QueueTrigger(name = "in", queueName = "q") byte[] in) {
        return Arrays.toString(in);
    }

    public String order(@QueueTrigger(name = "in", queueName = "q") Order in) {
        return String.valueOf(in);
    }

    public String orders(@QueueTrigger(name = "in", queueName = "q") List<Order> in) {
        return in.getClass().getSimpleName() + " " + in;
    }

    public String array(@QueueTrigger(name = "in", queueName = "q") Order[] in) {
        return Arrays.toString(in);
    }

    public String texts(@QueueTrigger(name = "in", queueName = "q") List<String> in) {
        return in.size() + " " + in;
    }

    public String textArray(@QueueTrigger(name = "in", queueName = "q") String[] in) {
        return in.length + " " + Arrays.toString(in);
    }

    public String set(@QueueTrigger(name = "in", queueName = "q") Set<Integer> in) {
        return in.toString();
    }

    public String bytesList(@QueueTrigger(name = "in", queueName = "q") List<byte[]> in) {
        return in.stream().map(Arrays::toString).collect(Collectors.joining(";"));
    }

    public String map(@QueueTrigger(name = "in", queueName = "q") Map<String, List<Integer>> in) {
        return in.toString();
    }

    public String maybe(@QueueTrigger(name = "in", queueName = "q") Optional<Order> in) {
        return in.toString();
    }

    public String any(@QueueTrigger(name = "in", queueName = "q") Object in) {
        return (in == null ? "none" : in instanceof Map ? "Map" : in.getClass().getSimpleName()) + " " + in;
    }

    /** Gives back what is asked for. */
    public Object give(@QueueTrigger(name = "in", queueName = "q") String in) {
        switch (in) {
            case "int":
                return 7;
            case "long":
                return Long.MIN_VALUE;
            case "double":
                return 1.5;
            case "nan":
                return Double.NaN;
            case "text":
                return "half \ud800 ü \"<\"";
            case "bytes":
                return new byte[] {0, -1};
            case "boolean":
                return true;
            case "list":
                return List.of("a", 2);
            case "order":
                Order order = new Order("<7>");
                order.lines = List.of(new Order.Line());
                order.size = Order.Size.LARGE;
                return order;
            case "map":
                Map<String, Object> map = new LinkedHashMap<>();
                map.put("a", null);
                map.put("b", new int[] {1, 2});
                return map;
            default:
                return null;
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    public void serialised(@QueueTrigger(name = "in", queueName = "q") String in, @QueueOutput(name = "out", queueName = "o") OutputBinding out, @QueueOutput(name = "more", queueName = "o") OutputBinding more) {
        more.setValue(in);
        out.setValue(java.util.Map.of("more", more));
    }

    public void both(
        @QueueTrigger(name = "in", queueName = "q") String in, @QueueOutput(name = "out", queueName = "o") OutputBinding<Order> out,
        @BlobOutput(name = "file", path = "p") OutputBinding<byte[]> file) {
        if (in.equals("set")) {
            out.setValue(new Order("8"));
            file.setValue(in.getBytes());
            file.setValue((file.getValue().length + " bytes").getBytes());
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @CustomBinding(direction = "in", name = "", type = "other")
    public @interface Other {
        String name();
    }

    public String context(
        @QueueTrigger(name = "in", queueName = "q") String in, @BindingName("DequeueCount") int count, @BindingName("Id") String id, @Other(name = "other") String other,
        ExecutionContext context) {
        Map<String, String> attributes = new TreeMap<>(context.getTraceContext().getAttributes());
        return String.join(" ", context.getInvocationId(), context.getFunctionName(), context.getTraceContext().getTraceparent(), context.getTraceContext().getTracestate(),
            attributes.toString(), "" + context.getRetryContext().getRetrycount(), "" + context.getRetryContext().getMaxretrycount(),
            "<" + context.getRetryContext().getException().getMessage() + "|" + context.getRetryContext().getException().getSource() + "|"
                + context.getRetryContext().getException().getStacktrace() + ">",
            "" + count, id, other, "" + context.equals(context) + context.equals(null) + context.toString().startsWith("ExecutionContext@"));
    }

    public void logs(@QueueTrigger(name = "in", queueName = "q") String in, ExecutionContext context) {
        for (Level level : new Level[] {Level.SEVERE, Level.WARNING, Level.INFO, Level.CONFIG, Level.FINE, Level.FINEST}) {
            context.getLogger().log(level, "at " + level + " {0}", 7);
        }
        context.getLogger().log(Level.SEVERE, "with", new IllegalStateException("cause"));
    }

    public HttpResponseMessage http(@HttpTrigger(name = "req") HttpRequestMessage<Optional<String>> request, @BindingName("$request") HttpRequestMessage<byte[]> again) {
        String said = String.join(" ", request.getHttpMethod() + "", request.getUri() + "", new TreeMap<>(request.getHeaders()) + "", new TreeMap<>(request.getQueryParameters()) + "",
            request.getBody() + "", again.getBody() == null ? "none" : "" + again.getBody().length);
        switch (request.getQueryParameters().getOrDefault("answer", "")) {
            case "order":
                return request.createResponseBuilder(HttpStatus.CREATED).header("X-A", "1").header("x-a", "2").body(new Order("9")).build();
            case "custom":
                HttpResponseMessage answer = request.createResponseBuilder(HttpStatusType.custom(299)).header("X-A", "1").body(new byte[] {1}).build();
                return request.createResponseBuilder(HttpStatus.OK).status(answer.getStatus()).header("X-A", answer.getHeader("x-a") + answer.getStatusCode()).body(answer.getBody()).build();
            case "empty":
                return request.createResponseBuilder(HttpStatus.NO_CONTENT).build();
            default:
                return request.createResponseBuilder(HttpStatus.OK).body(said).build();
        }
    }

    public String httpOrder(@HttpTrigger(name = "req") HttpRequestMessage<Order> request) {
        return String.valueOf(request.getBody());
    }

    public String httpBody(@HttpTrigger(name = "req") Order order) {
        return String.valueOf(order);
    }

    static class OddException extends RuntimeException {
        @Override
        public String getMessage() {
            throw new IllegalStateException();
        }
    }

    static class Broken {
        static final int VALUE = Integer.parseInt("broken");
    }

    public void fail(@QueueTrigger(name = "in", queueName = "q") String in) throws Exception {
        switch (in) {
            case "cause":
                throw new Exception("outer", new IllegalStateException("inner"));
            case "odd":
                throw new OddException();
            case "none":
                throw new NullPointerException();
            case "class":
                throw new AssertionError(Broken.VALUE);
            case "leaves":
                throw new RuntimeException() {
                    @Override
                    public String getMessage() {
                        throw new StackOverflowError();
                    }

                    @Override
                    public synchronized Throwable getCause() {
                        throw new StackOverflowError();
                    }

                    @Override
                    public StackTraceElement[] getStackTrace() {
                        throw new LinkageError();
                    }
                };
            case "deep":
                fail(in);
                break;
            default:
                throw new IllegalArgumentException(in);
        }
    }

    public void exit(@QueueTrigger(name = "in", queueName = "q") int in) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("the hook has run ü")));
        if (in >= 0) {
            System.exit(in);
        }
    }

    public void twice(@QueueTrigger(name = "in", queueName = "q") String in) {
    }

    public void twice(@QueueTrigger(name = "in", queueName = "q") int in) {
    }

    public void unnamed(String in) {
    }

    void hidden(@QueueTrigger(name = "in", queueName = "q") String in) {
    }

    public static class Unmade {
        public Unmade(String needed) {
        }

        public void run(@QueueTrigger(name = "in", queueName = "q") String in) {
        }
    }
}
