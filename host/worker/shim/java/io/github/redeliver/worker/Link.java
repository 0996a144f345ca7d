package io.github.redeliver.worker;

import static io.github.redeliver.worker.Json.map;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/** The connection to the host: a message a line. */
public final class Link {
    private final InputStream in;
    private final OutputStream out;
    private final Runnable gone; // what is done when the host does not take a message
    private final long most; // bytes of a message, 0: any number
    private static final int USUAL = 1 << 16;
    private byte[] held = new byte[USUAL]; // has come, and is not yet given
    private int count;

    private final Socket socket;

    /** Connects with a host. */
    public Link(String host, int port, long most, Runnable gone) throws IOException {
        this.most = most;
        this.gone = gone;
        socket = new Socket(InetAddress.getByName(host), port);
        socket.setTcpNoDelay(true);
        in = socket.getInputStream();
        out = socket.getOutputStream();
    }

    /** The next line, null at the end. Of one that memory does not hold the beginning is kept. */
    Line receive() throws IOException {
        Throwable lost = null;
        for (int from = 0;;) {
            for (int i = from; i < count; i++) {
                if (held[i] == '\n') {
                    Line line = new Line(held, i, lost);
                    count -= i + 1;
                    System.arraycopy(held, i + 1, held, 0, count);
                    if (count <= USUAL && held.length > USUAL) {
                        held = Arrays.copyOf(held, USUAL); // a long line does not cost its size for ever
                    }
                    return line;
                }
            }
            from = count;
            if (count == held.length && lost == null) {
                try {
                    held = Arrays.copyOf(held, larger(count));
                } catch (OutOfMemoryError full) {
                    lost = full;
                }
            }
            if (count == held.length) {
                from = count = Math.min(count, Line.HEAD);
            }
            int more = in.read(held, count, held.length - count);
            if (more < 0) {
                return null;
            }
            count += more;
        }
    }

    private static int larger(int size) {
        if (size > 1 << 30) {
            throw new OutOfMemoryError("a message of more than " + size + " bytes");
        }
        return size < 1 << 30 ? 2 * size : Integer.MAX_VALUE - 8;
    }

    /** Sends a message. An error says why it cannot travel, and nothing is sent. */
    public void send(String request, String kind, Map<String, Object> body) {
        StringBuilder text = new StringBuilder();
        Json.write(text, map("requestId", request, kind, body), false);
        byte[] line = text.append('\n').toString().getBytes(StandardCharsets.UTF_8);
        if (most > 0 && line.length > most) {
            throw new IllegalArgumentException("the message has " + line.length + " bytes, and the host takes " + most);
        }
        synchronized (out) {
            try {
                out.write(line);
                out.flush();
            } catch (IOException broken) {
                gone.run();
            }
        }
    }

    /** Ends the connection. */
    public void close() {
        try {
            socket.close();
        } catch (IOException done) {
            // it has ended
        }
    }
}
