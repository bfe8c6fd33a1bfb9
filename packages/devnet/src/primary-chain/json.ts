// JSON with access to source text is in Node since 21 and in ES2026, but not yet in TypeScript's library.
const sourceJson = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/**
 * JSON with exact integers: Solana's RPC writes u64 values as plain JSON integers, which a JavaScript number cannot
 * hold. Integers beyond 2^53 are parsed as bigint; every bigint is written as an integer.
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text) // nothing in it can be beyond 2^53
  return sourceJson.parse(text, (_key, value, { source }) =>
    isInexact(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  )
}

export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? sourceJson.rawJSON(item.toString()) : item))
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}
