exports.run = "text";
