package io.github.redeliver.worker;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Class files that are made here. */
final class ClassFile {
    static final String OUTPUT = "RedeliverOutputBinding";
    static final String INJECTOR = AppClasses.API + "spi.inject.FunctionInstanceInjector";

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);

    private ClassFile(int constants) throws IOException {
        out.writeInt(0xCAFEBABE);
        out.writeInt(52); // Java 8
        shorts(constants + 1);
    }

    /** In source: interface FunctionInstanceInjector { Object getInstance(Class of); } */
    static byte[] injector() throws IOException {
        ClassFile file = new ClassFile(6);
        file.text(INJECTOR.replace('.', '/')); // 1
        file.pair(7, 1);
        file.text("java/lang/Object");
        file.pair(7, 3); // 4
        file.text("getInstance");
        file.text("(Ljava/lang/Class;)Ljava/lang/Object;");
        file.shorts(0x601, 2, 4, 0, 0, 1, 0x401, 5, 6, 0, 0); // a public interface with one public method
        return file.bytes.toByteArray();
    }

    /** In source: private Object value; and its getter and setter. */
    static byte[] output() throws IOException {
        ClassFile file = new ClassFile(19);
        file.outputConstants();
        file.shorts(0x21, 2, 4, 1, 6, 1, 2, 7, 8, 0); // public, this, super, one interface; one field: private, name, type
        file.shorts(3);
        file.method(9, 10, 1, 1, 0x2A, 0xB7, 0, 14, 0xB1); // super()
        file.method(11, 12, 1, 1, 0x2A, 0xB4, 0, 16, 0xB0); // return value
        file.method(17, 18, 2, 2, 0x2A, 0x2B, 0xB5, 0, 16, 0xB1); // value = given
        file.shorts(0);
        return file.bytes.toByteArray();
    }

    /** The constants, by their numbers from 1. */
    private void outputConstants() throws IOException {
        text(OUTPUT); // 1
        pair(7, 1);
        text("java/lang/Object");
        pair(7, 3); // 4
        text((AppClasses.API + "OutputBinding").replace('.', '/'));
        pair(7, 5);
        text("value"); // 7
        text("Ljava/lang/Object;");
        text("<init>"); // 9
        text("()V");
        text("getValue"); // 11
        text("()Ljava/lang/Object;");
        pair(12, 9, 10); // 13: <init>()
        pair(10, 4, 13);
        pair(12, 7, 8); // 15: value
        pair(9, 2, 15);
        text("setValue"); // 17
        text("(Ljava/lang/Object;)V");
        text("Code"); // 19
    }

    private void method(int name, int type, int stack, int locals, int... code) throws IOException {
        shorts(1, name, type, 1, 19);
        out.writeInt(12 + code.length);
        shorts(stack, locals);
        out.writeInt(code.length);
        for (int one : code) {
            out.writeByte(one);
        }
        shorts(0, 0);
    }

    private void text(String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private void pair(int tag, int... numbers) throws IOException {
        out.writeByte(tag);
        shorts(numbers);
    }

    private void shorts(int... numbers) throws IOException {
        for (int number : numbers) {
            out.writeShort(number);
        }
    }
}
