import { describe, expect, it } from 'vitest'
import { limit } from '../src/locks.ts'
import { singleFlight } from '../src/sharing.ts'

/** Work that ends when it is told to. */
function workshop() {
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const work = (name: string) => () => {
    started.push(name)
    const end = Promise.withResolvers<string>()
    ends.set(name, end)
    return end.promise
  }
  return {
    started,
    work,
    end: (name: string) => ends.get(name)!.resolve(name),
    fail: (name: string) => ends.get(name)!.reject(new Error(name)),
  }
}

const settled = () => new Promise(setImmediate)

describe('single flight', () => {
  it('T-10 does once what is asked for by many, and anew what is asked for afterwards', async () => {
    const { started, work, end } = workshop()
    const share = singleFlight<string>()
    const [a, b, other] = [share('key', work('first')), share('key', work('second')), share('other', work('other'))]
    expect(started).toEqual(['first', 'other'])
    end('first')
    end('other')
    expect(await Promise.all([a, b, other])).toEqual(['first', 'first', 'other'])
    const again = share('key', work('again'))
    end('again')
    expect(await again).toBe('again')
  })

  it('T-10 tells a failure to all who share it, and forgets it', async () => {
    const { work, fail, end } = workshop()
    const share = singleFlight<string>()
    const both = [share('key', work('first')), share('key', work('second'))]
    fail('first')
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const again = share('key', work('again'))
    end('again')
    expect(await again).toBe('again')
  })
})

describe('at most so many at a time', () => {
  it('T-10 begins the rest in the order it came, whether work ends well or not', async () => {
    const { started, work, end, fail } = workshop()
    const inTurn = limit(2)
    const all = ['a', 'b', 'c', 'd'].map((name) => inTurn(work(name)))
    const outcomes = Promise.allSettled(all)
    await settled()
    expect(started).toEqual(['a', 'b'])
    fail('b')
    await settled()
    expect(started).toEqual(['a', 'b', 'c'])
    end('a')
    await settled()
    expect(started).toEqual(['a', 'b', 'c', 'd'])
    end('c')
    end('d')
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  })

  it('T-10 has its places back when all is done', async () => {
    const { started, work } = workshop()
    const inTurn = limit(2)
    await Promise.allSettled([1, 2, 3, 4, 5].map((i) => inTurn(() => (i % 2 ? Promise.reject(i) : Promise.resolve(i)))))
    for (const name of ['a', 'b', 'c']) void inTurn(work(name))
    await settled()
    expect(started).toEqual(['a', 'b'])
  })
})
