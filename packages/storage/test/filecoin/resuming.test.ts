import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { commitmentOf } from '@svc/devnet/providers/filecoin/commitment'
import type { Mishap } from '@svc/devnet/providers/http/faults'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Patience } from '../../src/filecoin/patience.ts'
import { stage, startTestFilecoin, type TestFilecoin } from './start-filecoin.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const CLOSED = { name: 'ProviderError', reason: 'closed' }
const MIB = 1024 * 1024

describe('an object on its way to Filecoin', () => {
  let filecoin: TestFilecoin
  beforeAll(async () => {
    filecoin = await startTestFilecoin()
    await stage(randomBytes(200)).settle(filecoin.store) // makes the data set
  })
  afterAll(() => filecoin.close())
  afterEach(() => filecoin.server.recover())

  const begun = () => filecoin.server.requests.length
  const since = (from: number, at: RegExp) =>
    filecoin.server.requests.slice(from).filter((line) => at.test(line)).length
  const received = (ref: string) => filecoin.server.pieces.received.filter((cid) => cid === ref).length
  const committed = (ref: string) => {
    const pieces = [...filecoin.server.chain.dataSets.values()].flatMap((dataSet) => dataSet.pieces)
    return pieces.filter((piece) => piece === ref).length
  }

  const PUT = /^PUT/
  const COMMIT = /^POST .*\/pieces$/

  const steps: [string, RegExp][] = [
    ['it is looked for', /^GET \/pdp\/piece/],
    ['an upload is begun', /^POST \/pdp\/piece\/uploads$/],
    ['bytes are sent', PUT],
    ['an upload is finished', /^POST \/pdp\/piece\/uploads\/./],
    ['a commit is sent', COMMIT],
    ['a commit is asked for', /^GET .*\/added\//],
    ['the chain is asked', /^POST \/rpc/],
  ]
  const mishaps: [string, Mishap][] = [
    ['answered with an error', { status: 500, code: 'Database error' }],
    ['answered with an error after all was sent', { status: 503, code: 'later', afterBody: true }],
    ['done and the answer is lost', 'lost answer'],
    ['not answered', 'silence'],
    ['cut off', { cutBodyAt: 100 }],
  ]
  const cases = steps.flatMap(([step, at]) => mishaps.map(([end, mishap]) => ({ step, at, end, mishap })))

  /** As a gateway that is started anew each time, until it is done. */
  async function settleInTheEnd(object: ReturnType<typeof stage>, patience: Partial<Patience>): Promise<string> {
    const trouble: unknown[] = []
    while (trouble.length < 8) {
      const run = object.settle(await filecoin.open({}, patience))
      const ref = await run.catch((error) => void trouble.push(error))
      if (ref) return ref
    }
    throw new AggregateError(trouble)
  }

  it.each(cases)('is sent once and committed to once where $step and that is $end', async ({ at, mishap }) => {
    const bytes = randomBytes(300)
    const object = stage(bytes)
    object.notes = { piece: commitmentOf(bytes) } // else a thread would be started for each run
    const isUnheard = at === COMMIT && mishap !== 'lost answer'
    filecoin.server.fail({ at, mishap, times: 2 }) // the chain is asked a second time at once
    const from = begun()
    // What was sent and not heard of would count as lost in a quarter of an hour.
    const ref = await settleInTheEnd(object, { answerMs: 250, ...(isUnheard && { lostMs: 0 }) })
    expect([received(ref), committed(ref)]).toEqual([1, 1])
    expect(since(from, COMMIT)).toBe(isUnheard ? 3 : 1)
    expect(await buffer((await filecoin.store.read(ref))!)).toEqual(bytes)
  })

  it('is sent again from its beginning where it was cut off in the middle', async () => {
    const bytes = randomBytes(2 * MIB)
    filecoin.server.fail({ at: PUT, mishap: { cutBodyAt: MIB }, times: 2 })
    const from = begun()
    const ref = await settleInTheEnd(stage(bytes), {})
    expect([received(ref), committed(ref), since(from, PUT)]).toEqual([1, 1, 3])
  })

  it('is sent again where the provider lost it before it was finished', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.fail({ at: /^POST .*uploads\/./, mishap: { status: 503, code: 'later' }, times: 1 })
    await expect(object.settle(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    expect(object.notes).toMatchObject({ upload: { isWhole: true } })
    filecoin.server.fail({ at: /^POST .*uploads\/./, mishap: { status: 404, code: '' }, times: 1 })
    const hasty = await filecoin.open({}, { waitMs: 0 })
    await expect(object.settle(hasty)).rejects.toMatchObject(UNAVAILABLE)
    expect(Object.keys(object.notes as object)).toEqual(['piece'])
    expect(received(await object.settle(filecoin.store))).toBe(2)
  })

  it('is sent again where other bytes came than were sent', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.fail({ at: /^POST .*uploads\/./, mishap: { status: 400, code: 'does not match' }, times: 1 })
    await expect(object.settle(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    const ref = await object.settle(filecoin.store)
    expect([received(ref), committed(ref)]).toEqual([2, 1])
  })

  it('is committed to anew, and not sent anew, where the chain rejects the commit', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.chain.rejections = 1
    const from = begun()
    await expect(object.settle(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    expect(object.notes).not.toHaveProperty('commit')
    const ref = await object.settle(filecoin.store)
    expect([received(ref), committed(ref), since(from, COMMIT)]).toEqual([1, 1, 2])
  })

  it('is for the operator to mend where the contract refuses the commit', async () => {
    const object = stage(randomBytes(300))
    const code = 'Failed to send transaction: failed to estimate gas: (vm error=[Error(insufficient lockup)])'
    filecoin.server.fail({ at: COMMIT, mishap: { status: 500, code }, times: 1 })
    const failure = await object.settle(filecoin.store).catch((error) => error)
    expect(failure).toMatchObject({ ...CLOSED, message: 'the storage provider is closed' })
    expect(failure.cause.message).toMatch(/insufficient lockup/)
    expect(object.notes).not.toHaveProperty('commit')
    expect(committed(await object.settle(filecoin.store))).toBe(1)
  })

  it('waits for the chain, whatever the provider says', async () => {
    const object = stage(randomBytes(300))
    const { chain } = filecoin.server
    const from = begun()
    chain.isStopped = true
    const hasty = await filecoin.open({}, { waitMs: 20 })
    await expect
      .poll(() => object.settle(hasty).catch(() => object.notes))
      .toMatchObject({ commit: { dataSet: '1000' } })
    for (const transaction of chain.transactions.values()) transaction.status = 'confirmed'
    await expect(object.settle(hasty)).rejects.toMatchObject(UNAVAILABLE)
    chain.transactions.clear() // the provider knows nothing any more
    await expect(object.settle(hasty)).rejects.toMatchObject(UNAVAILABLE)
    chain.isStopped = false
    const ref = await object.settle(filecoin.store)
    expect([received(ref), committed(ref), since(from, COMMIT)]).toEqual([1, 1, 1])
  })

  it('is told apart from others with the same bytes', async () => {
    const bytes = randomBytes(300)
    const [first, second] = [stage(bytes), stage(bytes)]
    const refs = await Promise.all([first.settle(filecoin.store), second.settle(filecoin.store)])
    expect(refs[0]).toBe(refs[1])
    expect(committed(refs[0])).toBe(2)
  })

  it('waits while the provider is down or locked', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.fail({ at: /^\w+ \/pdp/, mishap: { status: 403, code: 'no' } })
    await expect(object.settle(filecoin.store)).rejects.toMatchObject(CLOSED)
    expect(await filecoin.store.check()).toBe(false)
    filecoin.server.recover()
    expect(await filecoin.store.check()).toBe(true)
    filecoin.server.fail({ at: /^PUT/, mishap: { status: 507, code: 'full' }, times: 1 })
    await expect(object.settle(filecoin.store)).rejects.toMatchObject({ name: 'ProviderError', reason: 'full' })
    const nowhere = await filecoin.open({ pdpUrl: 'http://127.0.0.1:9' })
    await expect(object.settle(nowhere)).rejects.toMatchObject(UNAVAILABLE)
    expect(await nowhere.check()).toBe(false)
    expect(committed(await object.settle(filecoin.store))).toBe(1)
  })

  it('tells nobody where the chain is asked', async () => {
    const noted = stage(randomBytes(300))
    const rpcUrl = 'http://127.0.0.1:9/secret-of-an-account'
    const failure = await noted.settle(await filecoin.open({ rpcUrl })).catch((error) => error)
    expect(failure).toMatchObject(UNAVAILABLE)
    expect(`${failure.cause.message} ${failure.cause.stack} ${failure.cause.cause}`).not.toContain('secret')
  })
})
