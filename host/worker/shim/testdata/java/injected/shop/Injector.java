package shop;

import com.microsoft.azure.functions.annotation.QueueTrigger;
import com.microsoft.azure.functions.spi.inject.FunctionInstanceInjector;

public class Injector implements FunctionInstanceInjector {
    @Override
    public <T> T getInstance(Class<T> of) throws Exception {
        return of.getConstructor(String.class).newInstance("injected");
    }

    public static class Functions {
        private final String given;

        public Functions(String given) {
            this.given = given;
        }

        public String run(@QueueTrigger(name = "in", queueName = "q") String in) {
            return given;
        }
    }
}
