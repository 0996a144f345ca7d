exports.carrier = { book: async (order) => `label for ${order.id}` };
