// Structured answers as text: many clients show models nothing else. Each field has a line, in the order of the
// answer; nested fields are indented. Names and contents are untrusted, so no value can look like a line of the server.

const INDENT = '  '

export function readable(data: object): string {
  return linesOf(data).join('\n')
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function linesOf(data: object): string[] {
  if (Array.isArray(data)) return data.flatMap(itemLines)
  return Object.entries(data).flatMap(([name, value]) => fieldLines(name, value))
}

function fieldLines(name: string, value: unknown): string[] {
  if (typeof value === 'string' && value.includes('\n')) return [`${name}: |`, ...indented(value.split('\n'))]
  if (!isObject(value)) return [`${name}: ${scalarText(value)}`]
  const lines = linesOf(value)
  return lines.length === 0 ? [`${name}: none`] : [`${name}:`, ...indented(lines)]
}

/** An item is on one line if nothing in it is nested. */
function itemLines(item: unknown): string[] {
  if (!isObject(item)) return [`- ${scalarText(item)}`]
  const fields = Object.entries(item)
  if (!fields.some(([, value]) => isObject(value)))
    return [`- ${fields.map(([name, value]) => `${name}: ${scalarText(value)}`).join(', ')}`]
  const [first = '', ...rest] = linesOf(item)
  return [`- ${first}`, ...indented(rest)]
}

function indented(lines: string[]): string[] {
  return lines.map((line) => INDENT + line)
}

function scalarText(value: unknown): string {
  if (value === null) return 'none'
  const text = String(value)
  return PLAIN.test(text) ? text : quoted(text)
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`)
}

/** Text that cannot be taken for several values or lines. */
const PLAIN = /^[^\s\p{C}",]+( [^\s\p{C}",:]+)*$/u

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
