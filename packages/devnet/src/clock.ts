/** A clock that moves only when a test moves it. */
export interface TestClock {
  /** Unix milliseconds. */
  now: () => number
  /** A negative number moves it back. */
  advance(seconds: number): void
}

export function testClock(start = Date.UTC(2026, 8, 1, 12)): TestClock {
  let time = start
  return {
    now: () => time,
    advance(seconds) {
      time += seconds * 1000
    },
  }
}
