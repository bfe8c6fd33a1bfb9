import { expect, it } from 'vitest'
import { readAtMost, TooManyBytes } from '../src/read-at-most.ts'

it('T-139 readAtMost reads up to the limit in any chunks, and ends the source at the first byte beyond it', async () => {
  const bytes = Uint8Array.from({ length: 40_000 }, (_, i) => i)
  for (const pieceBytes of [1, 7, 16_384, 40_000]) {
    let isEnded = false
    const pieces = function* () {
      try {
        for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
      } finally {
        isEnded = true
      }
    }
    expect(await readAtMost(bytes.length, pieces())).toEqual(bytes)
    isEnded = false
    await expect(readAtMost(bytes.length - 1, pieces())).rejects.toBeInstanceOf(TooManyBytes)
    expect(isEnded).toBe(true)
  }
  expect(await readAtMost(0, [])).toEqual(new Uint8Array())
})
