// Building blocks of rules for parsers.

/** A parser broke one of its rules. */
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
    // Not `given`, which `toJSON` of a buffer has already converted.
    const inner = this[key]
    return inner instanceof Uint8Array ? Buffer.from(inner).toString('hex') : given
  })
}

type ErrorClass = abstract new (...args: never[]) => Error

/** Null when the parser refuses its input with one of its own errors; any other error is rethrown. */
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

/** Text, with replacement characters where bytes are not UTF-8. */
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

/** Undefined when the input is not JSON. */
export function json(input: Uint8Array): unknown {
  try {
    return JSON.parse(text(input))
  } catch {
    return undefined
  }
}
