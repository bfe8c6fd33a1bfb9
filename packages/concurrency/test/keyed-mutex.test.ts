import { expect, it } from 'vitest'
import { keyedMutex } from '../src/locks.ts'

it('T-10 does the work on a key in order, and that on others meanwhile', async () => {
  const inTurn = keyedMutex()
  const done: string[] = []
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const first = inTurn('a', async () => {
    await gate
    done.push('a1')
  })
  const second = inTurn('a', async () => void done.push('a2'))
  await inTurn('b', async () => void done.push('b'))
  expect(done).toEqual(['b'])
  open()
  await Promise.all([first, second])
  expect(done).toEqual(['b', 'a1', 'a2'])
})

it('T-10 work that fails fails for who asked for it, and holds up nobody', async () => {
  const inTurn = keyedMutex()
  const failing = inTurn('a', () => Promise.reject(new Error('no')))
  const next = inTurn('a', async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})
