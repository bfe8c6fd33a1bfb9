// Set-ups that are named where tests are declared, and exist while these run.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

/** Made before the tests of the file or block. What can be closed is closed after them. */
export function forAllTests<T extends object>(make: () => Promise<T>, close = closeIfOpen<T>): T {
  let made: T | undefined
  beforeAll(async () => {
    made = await make()
  })
  afterAll(async () => {
    if (made) await close(made)
  })
  return later(() => made as T)
}

/** Made anew before each test, and closed after it. */
export function forEachTest<T extends object>(make: () => Promise<T>): T {
  let made: T | undefined
  beforeEach(async () => {
    made = await make()
  })
  afterEach(async () => {
    if (made) await closeIfOpen(made)
    made = undefined
  })
  return later(() => made as T)
}

async function closeIfOpen<T extends object>(made: T): Promise<void> {
  if ('close' in made) await (made.close as () => Promise<void>)()
}

/** Stands for a value that does not exist yet. Its methods must not need `this`. */
function later<T extends object>(value: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(value(), name),
    set: (_, name, given) => Reflect.set(value(), name, given),
  })
}
