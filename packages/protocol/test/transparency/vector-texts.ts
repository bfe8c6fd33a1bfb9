import { readFileSync } from 'node:fs'

/** Every text under one of these names in a file of transparency vectors. */
export function textsIn(file: string, ...names: string[]): string[] {
  const content = readFileSync(new URL(`../../../../vectors/transparency/${file}`, import.meta.url), 'utf8')
  const found = new Set<string>()
  JSON.parse(content, (key, value) => {
    if (names.includes(key) && typeof value === 'string') found.add(value)
    return value
  })
  return [...found]
}
