import { describe, expect, it } from 'vitest'
import { keyedLimit, keyedMutex, limit, mutex } from '../src/locks.ts'
import { controlledWork } from './work.ts'

const nextTurn = () => new Promise(setImmediate)

describe('mutex', () => {
  it('has one holder at a time, in the order of the calls', async () => {
    const lock = mutex()
    const order: number[] = []
    let holders = 0
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const release = await lock.acquire()
        expect(++holders).toBe(1)
        order.push(i)
        await Promise.resolve()
        holders--
        release()
      }),
    )
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })
})

describe('keyedMutex', () => {
  it('T-10 runs the work of one key in order, and the work of other keys in parallel', async () => {
    const withLock = keyedMutex()
    const done: string[] = []
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const first = withLock('a', async () => {
      await gate
      done.push('a1')
    })
    const second = withLock('a', async () => void done.push('a2'))
    await withLock('b', async () => void done.push('b'))
    expect(done).toEqual(['b'])
    open()
    await Promise.all([first, second])
    expect(done).toEqual(['b', 'a1', 'a2'])
  })

  it('T-10 rejects only for the caller whose work failed, and runs the next', async () => {
    const withLock = keyedMutex()
    const failing = withLock('a', () => Promise.reject(new Error('no')))
    const next = withLock('a', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })
})

describe('limit', () => {
  it('T-10 starts waiting work in order, whether the work before it succeeds or fails', async () => {
    const { started, work, end, fail } = controlledWork()
    const withLimit = limit(2)
    const all = ['a', 'b', 'c', 'd'].map((name) => withLimit(work(name)))
    const outcomes = Promise.allSettled(all)
    await nextTurn()
    expect(started).toEqual(['a', 'b'])
    fail('b')
    await nextTurn()
    expect(started).toEqual(['a', 'b', 'c'])
    end('a')
    await nextTurn()
    expect(started).toEqual(['a', 'b', 'c', 'd'])
    end('c')
    end('d')
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  })

  it('T-10 allows the full number again once all work has ended', async () => {
    const { started, work } = controlledWork()
    const withLimit = limit(2)
    await Promise.allSettled(
      [1, 2, 3, 4, 5].map((i) => withLimit(() => (i % 2 ? Promise.reject(i) : Promise.resolve(i)))),
    )
    for (const name of ['a', 'b', 'c']) void withLimit(work(name))
    await nextTurn()
    expect(started).toEqual(['a', 'b'])
  })
})

describe('keyedLimit', () => {
  it('T-35 limits the parallel work of one key without delaying other keys', async () => {
    const { started, work, end } = controlledWork()
    const withLimit = keyedLimit(2)
    const all = ['a1', 'a2', 'a3', 'b1'].map((name) => withLimit(name[0]!, work(name)))
    await nextTurn()
    expect(started).toEqual(['a1', 'a2', 'b1'])
    end('a1')
    await all[0]
    await nextTurn()
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
    for (const name of ['a2', 'a3', 'b1']) end(name)
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1'])
  })
})
