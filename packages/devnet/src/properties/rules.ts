// What rules of parsers are written with.

/** A rule of a parser that does not hold. */
export class BrokenRule extends Error {
  override name = 'BrokenRule'
}

export function must(holds: boolean, problem: string): void {
  if (!holds) throw new BrokenRule(problem)
}

/** Compares values as JSON, with the order of keys. */
export function mustEqual(found: unknown, expected: unknown, problem: string): void {
  must(textOf(found) === textOf(expected), problem)
}

function textOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, given) {
    if (typeof given === 'bigint') return `${given}n`
    // Not `given`, which is what a buffer makes of itself.
    const inner = this[key]
    return inner instanceof Uint8Array ? Buffer.from(inner).toString('hex') : given
  })
}

type ErrorClass = abstract new (...args: never[]) => Error

/** Null where the parser refuses its input by an error of its own; any other error goes on. */
export function accepted<T>(errors: ErrorClass | readonly ErrorClass[], read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    return refusal(errors)(error)
  }
}

/** The same for a promise: `.catch(refusal(ChainUnavailable))`. */
export function refusal(errors: ErrorClass | readonly ErrorClass[]): (error: unknown) => null {
  return (error) => {
    if ([errors].flat().some((kind) => error instanceof kind)) return null
    throw error
  }
}

/** As Node reads header lines: each byte is one character. */
export function latin1(input: Uint8Array): string {
  return Buffer.from(input).toString('latin1')
}

/** Text with a replacement where bytes are no UTF-8. */
export function text(input: Uint8Array): string {
  return Buffer.from(input).toString()
}

/** How deep lists and objects are nested in a value. */
export function depthOf(value: unknown): number {
  const isNested = (inner: unknown): inner is object => typeof inner === 'object' && inner !== null
  let depth = 0
  for (let level = [value].filter(isNested); level.length > 0; depth++) {
    level = level.flatMap((each) => Object.values(each)).filter(isNested)
  }
  return depth
}

/** Undefined for what is no JSON. */
export function json(input: Uint8Array): unknown {
  try {
    return JSON.parse(text(input))
  } catch {
    return undefined
  }
}
