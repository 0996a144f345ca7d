public static void Run(string order) {}
