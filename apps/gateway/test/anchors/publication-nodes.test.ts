import { type Behaviour, type FaultyNode, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse } from '../auth/lockers.ts'
import { expectAnchors, filledLocker, type Harbour, openHarbour, transactionsOf } from './anchor-gateways.ts'
import { blindly, DOWN, refusingly } from './node-faults.ts'

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())

describe('one of two nodes', () => {
  let bad: FaultyNode
  let house: LockerHouse
  const open = (url: string) => harbour.open({ PRIMARY_RPC_URLS: `${url},${harbour.node.url}` })
  beforeAll(async () => {
    bad = await startFaultyNode(harbour.chainUrl)
    house = await open(bad.url)
  })
  afterAll(() => bad.stop())

  async function expectPublished(by: LockerHouse): Promise<void> {
    const locker = await filledLocker(by)
    const sent = await transactionsOf(harbour.chain, async () => {
      expect((await attest(by, locker)).push_result).toMatchObject({ status: 'pushed', error: null })
    })
    expect(sent).toBe(1)
    await expectAnchors(by, harbour.chain, locker, [true])
  }

  it.each<[string, Behaviour]>([
    ['is down', DOWN],
    ['hangs', () => null],
    ['hangs when it is sent something', (call) => (call.method === 'sendTransaction' ? null : honestly(call))],
    ['answers with a page', () => ({ body: '<html>', headers: { 'content-type': 'text/html' } })],
    ['answers with nothing', () => ({ body: '' })],
    ['would refuse it', refusingly],
    ['has not seen it', blindly],
    ['has not indexed it', withResult('getTransaction', () => null)],
  ])(
    'T-19 %s: the statement is published through the other one, and nothing is sent twice',
    async (_name, behaviour) => {
      bad.behave(behaviour)
      await expectPublished(house)
    },
  )

  it('T-19 is on another chain: it is asked nothing else, and the statement is published through the other one', async () => {
    bad.behave(withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'))
    const asked = bad.calls.length
    await expectPublished(await open(bad.url))
    expect(new Set(bad.calls.slice(asked))).toEqual(new Set(['getGenesisHash']))
  })

  it('T-19 cannot be reached: the statement is published through the other one', async () => {
    const gone = await startFaultyNode(harbour.chainUrl)
    await gone.stop()
    await expectPublished(await open(gone.url))
  })
})
