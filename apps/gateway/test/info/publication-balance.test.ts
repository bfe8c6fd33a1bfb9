import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type AnchorTestbed, filledLocker, startAnchorTestbed } from '../anchors/anchor-testbed.ts'
import { DOWN, holdAt } from '../anchors/node-faults.ts'
import { attest } from '../attestations/attest.ts'
import { health, healthWithBalance, LOW, openWith } from './publication-key.ts'

/** How long a balance is cached. */
const HALF_A_MINUTE = 30

let harbour: AnchorTestbed
beforeAll(async () => {
  harbour = await startAnchorTestbed()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

describe('health of the publication key', () => {
  it('VER-20 health warns of a low balance with the address to fund, and still serves', async () => {
    const { house, key, give } = await openWith(harbour, 1_500_000)
    const { status, body } = await healthWithBalance(house)
    expect([status, body.status, body.checks.publication_key]).toEqual([200, 'ok', 'low'])
    // (1,500,000 - 890,880 that must stay) / 5,000
    expect(body.warnings).toEqual([`publication key ${key} holds 1500000 lamports: about 121 more anchors`])
    give(LOW - 1_500_000)
    harbour.clock.advance(HALF_A_MINUTE)
    const { body: funded } = await healthWithBalance(house)
    expect(funded.checks.publication_key).toBe('ok')
    expect(funded).not.toHaveProperty('warnings')
  })

  it('VER-20 the balance pays for as many anchors as health says, and no more', async () => {
    const { house } = await openWith(harbour, 890_880 + 5_000)
    const left = async () => {
      harbour.clock.advance(HALF_A_MINUTE)
      return (await healthWithBalance(house)).body.warnings?.[0]?.split(': ')[1]
    }
    expect(await left()).toBe('about 1 more anchors')
    expect((await attest(house, await filledLocker(house))).push_result.status).toBe('pushed')
    expect(await left()).toBe('about 0 more anchors')
    const { status, reason } = (await attest(house, await filledLocker(house))).push_result
    expect([status, reason]).toEqual(['failed', 'publication_key_unfunded'])
  })

  it('VER-20 reports a node that is down, and asks it again half a minute later', async () => {
    const { house } = await openWith(harbour, LOW)
    expect((await healthWithBalance(house)).body.checks.publication_key).toBe('ok')
    harbour.node.behave(DOWN)
    expect((await health(house)).body.checks.publication_key).toBe('ok')
    harbour.clock.advance(HALF_A_MINUTE)
    await expect.poll(async () => (await health(house)).body.checks.publication_key).toBe('failing')
    const down = await health(house)
    expect([down.status, down.body.status]).toEqual([200, 'ok'])
    expect(down.body.checks).toMatchObject({ publication_key: 'failing', primary_chain: 'failing', database: 'ok' })
    harbour.node.behave(honestly)
    harbour.clock.advance(HALF_A_MINUTE)
    expect((await healthWithBalance(house)).body.checks.publication_key).toBe('ok')
  })

  it('VER-20 asks a hanging node once without waiting for it, and uses its late answer', {
    tags: ['nightly'],
  }, async () => {
    const { house } = await openWith(harbour, LOW)
    const hold = holdAt('getBalance')
    harbour.node.behave(hold.behaviour)
    harbour.node.calls.length = 0
    const answers = await Promise.all(Array.from({ length: 20 }, () => health(house)))
    for (const { status, body } of answers) expect([status, body.checks.publication_key]).toEqual([200, 'failing'])
    hold.release()
    expect((await healthWithBalance(house)).body.checks.publication_key).toBe('ok')
    expect(harbour.node.calls.filter((method) => method === 'getBalance')).toHaveLength(1)
  })
})
