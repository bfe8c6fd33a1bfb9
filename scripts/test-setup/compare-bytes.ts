// To compare typed arrays, the test runner lists their indices, which takes seconds for a few megabytes. This comparison
// handles equal bytes and leaves different ones to the runner, which shows the difference.

import { expect } from 'vitest'

expect.addEqualityTesters([
  (a, b) => (a instanceof Uint8Array && b instanceof Uint8Array && isSame(a, b) ? true : undefined),
])

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.constructor === b.constructor && Buffer.compare(a, b) === 0
}
