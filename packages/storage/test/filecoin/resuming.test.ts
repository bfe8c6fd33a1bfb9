import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { commitmentOf } from '@svc/devnet/providers/filecoin/commitment'
import type { Fault } from '@svc/devnet/providers/http/faults'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FilecoinTimeouts } from '../../src/filecoin/timeouts.ts'
import { stage, startTestFilecoin, type TestFilecoin } from './start-filecoin.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const CLOSED = { name: 'ProviderError', reason: 'closed' }

describe('an interrupted delivery to Filecoin', () => {
  let filecoin: TestFilecoin
  beforeAll(async () => {
    filecoin = await startTestFilecoin()
    await stage(randomBytes(200)).deliver(filecoin.store) // creates the data set
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
    ['the piece is looked up', /^GET \/pdp\/piece/],
    ['an upload is begun', /^POST \/pdp\/piece\/uploads$/],
    ['bytes are sent', PUT],
    ['an upload is finished', /^POST \/pdp\/piece\/uploads\/./],
    ['a commit is sent', COMMIT],
    ['the state of a commit is requested', /^GET .*\/added\//],
    ['the chain is read', /^POST \/rpc/],
  ]
  const faults: [string, Fault][] = [
    ['the answer is an error', { status: 500, code: 'Database error' }],
    ['the answer is an error after everything was sent', { status: 503, code: 'later', afterBody: true }],
    ['the answer is lost', 'lost answer'],
    ['there is no answer', 'silence'],
    ['the connection is cut', { cutBodyAt: 100 }],
  ]
  const cases = steps.flatMap(([step, at]) => faults.map(([end, fault]) => ({ step, at, end, fault })))

  /** Runs again with a new driver, like a restarted gateway, until it succeeds. */
  async function deliverEventually(
    object: ReturnType<typeof stage>,
    timeouts: Partial<FilecoinTimeouts>,
  ): Promise<string> {
    const failures: unknown[] = []
    while (failures.length < 8) {
      const run = object.deliver(await filecoin.open({}, timeouts))
      const ref = await run.catch((error) => void failures.push(error))
      if (ref) return ref
    }
    throw new AggregateError(failures)
  }

  it.each(cases)(
    'is sent once and committed once when $step and $end',
    { tags: ['nightly'] },
    async ({ at, fault }) => {
      const bytes = randomBytes(300)
      const object = stage(bytes)
      object.progress = { piece: commitmentOf(bytes) } // otherwise each run would start a thread
      const isUnanswered = at === COMMIT && fault !== 'lost answer'
      filecoin.server.fail({ at, fault, times: 2 }) // the chain read is retried immediately
      const from = begun()
      // A commit without an answer would count as lost after a quarter of an hour.
      const ref = await deliverEventually(object, {
        // Only silence needs a timeout; a correct answer may be slow on a busy machine.
        ...(fault === 'silence' && { answerMs: 750 }),
        ...(isUnanswered && { lostMs: 0 }),
      })
      expect([received(ref), committed(ref)]).toEqual([1, 1])
      expect(since(from, COMMIT)).toBe(isUnanswered ? 3 : 1)
      expect(await buffer((await filecoin.store.read(ref))!)).toEqual(bytes)
    },
  )

  it('is sent again when the provider lost it before it was finished', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.fail({ at: /^POST .*uploads\/./, fault: { status: 503, code: 'later' }, times: 1 })
    await expect(object.deliver(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    expect(object.progress).toMatchObject({ upload: { isWhole: true } })
    filecoin.server.fail({ at: /^POST .*uploads\/./, fault: { status: 404, code: '' }, times: 1 })
    const quick = await filecoin.open({}, { progressMs: 0 })
    await expect(object.deliver(quick)).rejects.toMatchObject(UNAVAILABLE)
    expect(Object.keys(object.progress as object)).toEqual(['piece'])
    expect(received(await object.deliver(filecoin.store))).toBe(2)
  })

  it('is sent again when the provider received other bytes', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.fail({ at: /^POST .*uploads\/./, fault: { status: 400, code: 'does not match' }, times: 1 })
    await expect(object.deliver(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    const ref = await object.deliver(filecoin.store)
    expect([received(ref), committed(ref)]).toEqual([2, 1])
  })

  it('is committed again, without being sent again, when the chain rejects the commit', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.chain.rejections = 1
    const from = begun()
    await expect(object.deliver(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    expect(object.progress).not.toHaveProperty('commit')
    const ref = await object.deliver(filecoin.store)
    expect([received(ref), committed(ref), since(from, COMMIT)]).toEqual([1, 1, 2])
  })

  it.each([
    ['the contract is not approved', { isApproved: false }, /has not approved the contract/],
    ['the allowance is used up', { lockupAllowance: 0n }, /allowance .* is used up/],
    ['there are no funds', { funds: 0n }, /has no funds left/],
  ])('closes the provider before anything is computed or sent when %s', async (_, account, why) => {
    Object.assign(filecoin.server.chain.account, account)
    const [object, from] = [stage(randomBytes(300)), begun()]
    const failure = await object.deliver(filecoin.store).catch((error) => error)
    expect(failure).toMatchObject({ ...CLOSED, message: 'the storage provider is closed' })
    expect(failure.cause.message).toMatch(why)
    expect([object.progress, since(from, /pdp/)]).toEqual([null, 0])
  })

  it('closes the provider when the funds are not enough, and is committed later without being sent again', async () => {
    const { account } = filecoin.server.chain
    account.funds = account.lockupUsage + 299n
    const [object, from] = [stage(randomBytes(300)), begun()]
    const failure = await object.deliver(filecoin.store).catch((error) => error)
    expect(failure).toMatchObject(CLOSED)
    expect(failure.cause.message).toMatch(/InsufficientLockupFunds/)
    filecoin.server.recover()
    expect([committed(await object.deliver(filecoin.store)), since(from, PUT)]).toEqual([1, 1])
  })

  it('succeeds only when the chain confirms it, regardless of the answers of the provider', async () => {
    const object = stage(randomBytes(300))
    const { chain } = filecoin.server
    const from = begun()
    chain.isStopped = true
    const quick = await filecoin.open({}, { progressMs: 20 })
    await expect
      .poll(() => object.deliver(quick).catch(() => object.progress))
      .toMatchObject({ commit: { dataSet: '1000' } })
    for (const transaction of chain.transactions.values()) transaction.status = 'confirmed'
    await expect(object.deliver(quick)).rejects.toMatchObject(UNAVAILABLE)
    chain.transactions.clear() // the provider has lost its transactions
    await expect(object.deliver(quick)).rejects.toMatchObject(UNAVAILABLE)
    chain.isStopped = false
    const ref = await object.deliver(filecoin.store)
    expect([received(ref), committed(ref), since(from, COMMIT)]).toEqual([1, 1, 1])
  })

  it('succeeds later when the provider was down or closed', async () => {
    const object = stage(randomBytes(300))
    filecoin.server.fail({ at: /^\w+ \/pdp/, fault: { status: 403, code: 'no' } })
    await expect(object.deliver(filecoin.store)).rejects.toMatchObject(CLOSED)
    expect(await filecoin.store.check()).toBe(false)
    filecoin.server.recover()
    expect(await filecoin.store.check()).toBe(true)
    filecoin.server.fail({ at: /^PUT/, fault: { status: 507, code: 'full' }, times: 1 })
    await expect(object.deliver(filecoin.store)).rejects.toMatchObject({ name: 'ProviderError', reason: 'full' })
    const nowhere = await filecoin.open({ pdpUrl: 'http://127.0.0.1:9' })
    await expect(object.deliver(nowhere)).rejects.toMatchObject(UNAVAILABLE)
    expect(await nowhere.check()).toBe(false)
    expect(committed(await object.deliver(filecoin.store))).toBe(1)
  })

  it('does not show the address of the node in an error', async () => {
    const noted = stage(randomBytes(300))
    const rpcUrl = 'http://127.0.0.1:9/secret-of-an-account'
    const failure = await noted.deliver(await filecoin.open({ rpcUrl })).catch((error) => error)
    expect(failure).toMatchObject(UNAVAILABLE)
    expect(`${failure.cause.message} ${failure.cause.stack} ${failure.cause.cause}`).not.toContain('secret')
  })
})
