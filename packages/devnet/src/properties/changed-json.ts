// Changes to a JSON document that keep it JSON: one of its values is replaced, moved or duplicated.

import type { Random } from './random.ts'

interface Context {
  words: readonly string[]
  other: Uint8Array
  maxBytes: number
}

type Container = Record<string, unknown> | unknown[]

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1, 0.5, 255, 256, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e21, 1e308],
  ...['', ' ', '0', '-1', 'null', '0x', '1'.repeat(100), 'x'.repeat(5000), '\0', '\ud800', '\ud83d\ude00', '__proto__'],
  ...[[], {}, [[]], [null], { length: 3 }, { toString: 1 }, { __proto__: null, a: 1 }],
]

/** Null when the input is not JSON or nested too deep, or when the change makes it too long. */
export function changeJson(input: Buffer, random: Random, context: Context): Buffer | null {
  const document = parsed(input)
  if (document === undefined) return null
  const root = { document }
  const places = placesIn(root)
  if (!places) return null
  random.pick(CHANGES)(random.pick(places), random, { ...context, places })
  const changed = Buffer.from(JSON.stringify(root.document) ?? 'null')
  return changed.length <= context.maxBytes ? changed : null
}

function parsed(input: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(input).toString())
  } catch {
    return undefined
  }
}

interface Place {
  holder: Container
  key: string
}

const MAX_PLACES = 10_000
const MAX_DEPTH = 500

/** Null when the document is nested too deep to traverse. */
function placesIn(root: Container): Place[] | null {
  const places: Place[] = []
  let level: Container[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return null
    const found = level.flatMap((holder) => Object.keys(holder).map((key) => ({ holder, key })))
    places.push(...found.slice(0, MAX_PLACES - places.length))
    level = found.map(at).filter((value): value is Container => typeof value === 'object' && value !== null)
  }
  return places
}

function at({ holder, key }: Place): unknown {
  return (holder as Record<string, unknown>)[key]
}

function put({ holder, key }: Place, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
}

type Change = (place: Place, random: Random, context: Context & { places: readonly Place[] }) => void

const CHANGES: readonly Change[] = [
  function replace(place, random) {
    put(place, structuredClone(random.pick(VALUES)))
  },
  function changeText(place, random, { words }) {
    const value = at(place)
    const text = typeof value === 'string' ? value : String(JSON.stringify(value))
    const start = random.below(text.length + 1)
    const word = random.pick([...words, '', '\0', 'é', '0', '\n', '\ud800'])
    put(place, text.slice(0, start) + word + text.slice(start + random.below(4)))
  },
  function useWord(place, random, { words }) {
    put(place, random.pick(words.length > 0 ? words : ['']))
  },
  function changeNumber(place, random) {
    const given = at(place)
    const value = typeof given === 'object' ? 0 : Number(given)
    put(place, random.pick([value + 1, value - 1, -value, value * 2, value + 0.5, String(value)]))
  },
  function remove({ holder, key }) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
  },
  function takeAnother(place, random, { places }) {
    put(place, structuredClone(at(random.pick(places))))
  },
  function addAnother({ holder }, random, { places, words }) {
    const value = structuredClone(at(random.pick(places)))
    if (Array.isArray(holder)) holder.splice(random.below(holder.length + 1), 0, value)
    else put({ holder, key: random.pick([...words, 'x', '__proto__', 'length', random.pick(places).key]) }, value)
  },
  function repeat(place, random, { maxBytes }) {
    const value = at(place)
    const times = random.pick([2, 10, 1000, 10_000])
    const length = Math.max(2, JSON.stringify(value)?.length ?? 2)
    const count = Math.min(times, Math.floor(maxBytes / length))
    if (typeof value === 'string') put(place, value.repeat(Math.max(1, count)))
    else
      put(
        place,
        Array.from({ length: count }, () => value),
      )
  },
  function nest(place, random) {
    const depth = random.pick([1, 2, 31, 40, 200])
    let value = at(place)
    for (let i = 0; i < depth; i++) value = random.oneIn(2) ? [value] : { x: value }
    put(place, value)
  },
  function useOther(place, _random, { other }) {
    put(place, parsed(other) ?? null)
  },
]
