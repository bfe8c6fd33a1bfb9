// Fixtures that are named where tests are declared, and exist while these run.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

/** Created before the tests of the file or block, and closed after them. */
export function forAllTests<T extends object>(make: () => Promise<T>): T {
  return madeBy(make, beforeAll, afterAll)
}

/** Created before each test, and closed after it. */
export function forEachTest<T extends object>(make: () => Promise<T>): T {
  return madeBy(make, beforeEach, afterEach)
}

const ENDS = ['close', 'stop', 'drop', 'remove', 'leave']

/** A placeholder for a value that exists only while tests run. Its methods must not use `this`. */
function madeBy<T extends object>(
  make: () => Promise<T>,
  before: (run: () => Promise<void>) => void,
  after: (run: () => Promise<void>) => void,
): T {
  let made: T | undefined
  before(async () => {
    made = await make()
  })
  after(async () => {
    const ends = ENDS.map((name) => made && Reflect.get(made, name))
    made = undefined
    await ends.find((end) => typeof end === 'function')?.()
  })
  const existing = (): T => {
    if (!made) throw new Error('this fixture exists only while tests run')
    return made
  }
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(existing(), name),
    set: (_, name, given) => Reflect.set(existing(), name, given),
    has: (_, name) => Reflect.has(existing(), name),
    ownKeys: () => Reflect.ownKeys(existing()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(existing(), name),
  })
}
