export default async () => ({ out: "default" });
