// The official TypeScript SDK: a streamed tool loop by hand, and its tool runner.
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";

const [model, question] = process.argv.slice(2);
const { version } = JSON.parse(
  readFileSync("node_modules/@anthropic-ai/sdk/package.json", "utf8"),
);
const client = new Anthropic({ maxRetries: 0 });
const tools = [
  {
    name: "get_weather",
    description: "The weather in a city.",
    input_schema: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
];

async function loop(reply) {
  const messages = [{ role: "user", content: question }];
  for (;;) {
    const message = await reply({ model, max_tokens: 500, tools, messages });
    const results = message.content
      .filter((block) => block.type === "tool_use")
      .map((block) => ({
        type: "tool_result",
        tool_use_id: block.id,
        content: `18 degrees in ${block.input.city}`,
      }));
    if (!results.length) {
      return message.content.map((block) => block.text ?? "").join("");
    }
    messages.push({ role: "assistant", content: message.content });
    messages.push({ role: "user", content: results });
  }
}

const texts = [
  await loop((request) => client.messages.create(request)),
  await loop((request) => client.messages.stream(request).finalMessage()),
];
console.log(JSON.stringify({ version, texts }));
