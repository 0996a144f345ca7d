package suite;

import com.microsoft.azure.functions.ExecutionContext;
import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.OutputBinding;
import com.microsoft.azure.functions.annotation.BlobInput;
import com.microsoft.azure.functions.annotation.HttpTrigger;
import com.microsoft.azure.functions.annotation.QueueTrigger;
import com.microsoft.azure.functions.annotation.TableInput;
import com.microsoft.azure.functions.annotation.TableOutput;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

public class Functions {
    /** Tells what a value is. */
    private static String shape(Object v) {
        if (v instanceof byte[]) {
            StringBuilder text = new StringBuilder("byte[] ");
            for (byte one : (byte[]) v) {
                text.append(String.format("%02x", one));
            }
            return text.toString();
        }
        if (v instanceof List) {
            return ((List<?>) v).stream().map(Functions::shape).collect(Collectors.joining(", ", "List[", "]"));
        }
        if (v instanceof Object[]) {
            return Arrays.stream((Object[]) v).map(Functions::shape).collect(Collectors.joining(", ", "[", "]"));
        }
        if (v instanceof HttpRequestMessage) {
            return "request " + ((HttpRequestMessage<?>) v).getHttpMethod();
        }
        return v == null ? "null" : v.getClass().getSimpleName() + " " + v;
    }

    private static void tell(ExecutionContext context, Object item) {
        context.getLogger().info("shape: " + shape(item));
    }

    public void tellString(@QueueTrigger(name = "item", queueName = "x") String item, ExecutionContext context) {
        tell(context, item);
    }

    public void tellBytes(@QueueTrigger(name = "item", queueName = "x") byte[] item, ExecutionContext context) {
        tell(context, item);
    }

    public void tellList(@QueueTrigger(name = "item", queueName = "x") List<String> item, ExecutionContext context) {
        tell(context, item);
    }

    public void tellArray(@QueueTrigger(name = "item", queueName = "x") String[] item, ExecutionContext context) {
        tell(context, item);
    }

    public void tellBlocks(@QueueTrigger(name = "item", queueName = "x") byte[][] item, ExecutionContext context) {
        tell(context, item);
    }

    public void tellRequest(@HttpTrigger(name = "item") HttpRequestMessage<Optional<String>> item, ExecutionContext context) {
        tell(context, item);
    }

    public void readString(@QueueTrigger(name = "on", queueName = "x") String on, @BlobInput(name = "item", path = "x/y") String item, ExecutionContext context) {
        tell(context, item);
    }

    public void readBytes(@QueueTrigger(name = "on", queueName = "x") String on, @BlobInput(name = "item", path = "x/y") byte[] item, ExecutionContext context) {
        tell(context, item);
    }

    public void readArray(@QueueTrigger(name = "on", queueName = "x") String on, @BlobInput(name = "item", path = "x/y") String[] item, ExecutionContext context) {
        tell(context, item);
    }

    /** A row of a table. */
    public static class Row {
        private String PartitionKey, RowKey;
        private long n;

        @Override
        public String toString() {
            return PartitionKey + "/" + RowKey + " " + n;
        }
    }

    public void readRows(@QueueTrigger(name = "on", queueName = "x") String on, @TableInput(name = "item", tableName = "x") Row[] item, ExecutionContext context) {
        tell(context, item);
    }

    public void write(@QueueTrigger(name = "item", queueName = "x") String item, @TableOutput(name = "row", tableName = "x") OutputBinding<String> row) {
        row.setValue(item);
    }

    public void writeRows(@QueueTrigger(name = "item", queueName = "x") Row item, @TableOutput(name = "row", tableName = "x") OutputBinding<Row[]> row) {
        row.setValue(new Row[] {item});
    }
}
