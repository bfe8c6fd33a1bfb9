import { expect, it } from 'vitest'
import { mutex } from '../src/locks.ts'

it('lets one in at a time, in the order they came', async () => {
  const lock = mutex()
  const order: number[] = []
  let inside = 0
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const release = await lock.acquire()
      expect(++inside).toBe(1)
      order.push(i)
      await Promise.resolve()
      inside--
      release()
    }),
  )
  expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i))
})
