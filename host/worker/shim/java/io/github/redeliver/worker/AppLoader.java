package io.github.redeliver.worker;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;

/** The loader of an app's classes, and of the one that is made for it. */
public final class AppLoader extends URLClassLoader {
    private Class<?> output; // made once, guarded by this

    /** The classes of a path, after those of another loader. */
    public AppLoader(URL[] path, ClassLoader before) {
        super(path, before);
    }

    /** A class with one field that is an OutputBinding: a proxy would have no JSON form. */
    synchronized Class<?> outputType() throws IOException {
        if (output == null) {
            output = define(ClassFile.OUTPUT, ClassFile.output());
        }
        return output;
    }

    /** The interface of injectors, which the platform's worker brings along, is here for apps that lack it. */
    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try {
            return super.findClass(name);
        } catch (ClassNotFoundException none) {
            if (!name.equals(ClassFile.INJECTOR)) {
                throw none;
            }
            try {
                return define(name, ClassFile.injector());
            } catch (IOException odd) { // it is written to memory
                throw none;
            }
        }
    }

    private Class<?> define(String name, byte[] file) {
        return defineClass(name, file, 0, file.length);
    }
}
