export const carrier = { book: async (order: { id: number }): Promise<string> => `label for ${order.id}` };
