import { describe, expect, it } from 'vitest'
import { freshInProportion, refreshing } from '../src/caches.ts'

/** Each finding is one that the test ends. */
function setUp({ waitMs = 60_000 } = {}) {
  const findings: PromiseWithResolvers<string | null>[] = []
  let time = 0
  const ask = refreshing({
    load() {
      const finding = Promise.withResolvers<string | null>()
      findings.push(finding)
      return finding.promise
    },
    freshMs: () => 1000,
    waitMs,
    now: () => time,
  })
  return {
    ask,
    findings,
    moveTo(ms: number) {
      time = ms
    },
  }
}

describe('what is remembered', () => {
  it('is found out once for all who ask at the same time', async () => {
    const { ask, findings } = setUp()
    const asked = Promise.all(Array.from({ length: 100 }, ask))
    findings[0]?.resolve('found')
    expect(new Set(await asked)).toEqual(new Set(['found']))
    expect(findings).toHaveLength(1)
  })

  it('is known for its time, and no longer, also where the clock is put back', async () => {
    const { ask, findings, moveTo } = setUp()
    const first = ask()
    findings[0]?.resolve('first')
    await first
    moveTo(999)
    expect(await ask()).toBe('first')
    moveTo(1000)
    const second = ask()
    findings[1]?.resolve('second')
    expect(await second).toBe('second')
    moveTo(-1)
    const third = ask()
    findings[2]?.resolve('third')
    expect(await third).toBe('third')
    expect(findings).toHaveLength(3)
  })

  it('is known from when it was found, not from when it was looked for: two never run at once', async () => {
    const { ask, findings, moveTo } = setUp()
    const first = ask()
    moveTo(5000)
    const second = ask()
    findings[0]?.resolve('late')
    expect(await Promise.all([first, second])).toEqual(['late', 'late'])
    expect(await ask()).toBe('late')
    expect(findings).toHaveLength(1)
  })

  it('that nothing was found is known as long', async () => {
    const { ask, findings } = setUp()
    const first = ask()
    findings[0]?.resolve(null)
    expect(await first).toBeNull()
    expect(await ask()).toBeNull()
    expect(findings).toHaveLength(1)
  })

  it('nobody waits for ever: what was known is answered until the new is there', async () => {
    const { ask, findings, moveTo } = setUp({ waitMs: 1 })
    expect(await ask()).toBeNull()
    findings[0]?.resolve('first')
    await expect.poll(ask).toBe('first')
    moveTo(1000)
    expect(await ask()).toBe('first')
    expect(await ask()).toBe('first')
    findings[1]?.resolve('second')
    await expect.poll(ask).toBe('second')
    expect(findings).toHaveLength(2)
  })

  it('is kept the longer, the longer it took', () => {
    expect([0, 250, 251, 3000].map(freshInProportion)).toEqual([5000, 5000, 5020, 60_000])
  })
})
