GREETING = "from Shared"
