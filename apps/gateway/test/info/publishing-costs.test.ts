import type { AttestHealth } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type AnchorTestbed, filledLocker, startAnchorTestbed } from '../anchors/anchor-testbed.ts'
import { DOWN } from '../anchors/node-faults.ts'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse } from '../auth/lockers.ts'
import { scrape } from './metrics/scrape.ts'
import { healthWithBalance, openWith } from './publication-key.ts'

let harbour: AnchorTestbed
beforeAll(async () => {
  harbour = await startAnchorTestbed()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

forEachDatabase('the costs of anchors', (database) => {
  let house: LockerHouse
  let key: string
  beforeAll(async () => {
    ;({ house, key } = await openWith(harbour, 10_000_000, { DATABASE_URL: database.url }))
    for (const _ of ['one', 'two']) await attest(house, await filledLocker(house))
    const row = { receipt_id: 'rcpt_x', draft: '{}', raw: '', last_valid_height: 1, sent_at: 1 }
    await house.gateway.context.database.db
      .insertInto('publications')
      .values([
        { ...row, tx: 't1', sequence: 1, state: 'failed', fee_lamports: null, rent_lamports: null },
        { ...row, tx: 't2', sequence: 2, state: 'expired', fee_lamports: null, rent_lamports: null },
        { ...row, tx: 't3', sequence: 3, state: 'finalized', fee_lamports: 5_000, rent_lamports: 2_500_000 },
        { ...row, tx: 't4', sequence: 4, state: 'landed', fee_lamports: 6_000, rent_lamports: -500_000 },
      ])
      .execute()
  })

  it('INT-03 attest-health counts publications, their cost with rent that was refunded, and the balance left', async () => {
    harbour.clock.advance(3600)
    await healthWithBalance(house)
    const { body } = await house.send<AttestHealth>('GET', '/v1/internal/attest-health')
    expect(body.counts).toMatchObject({ complete: 2 })
    expect(body.anchors).toEqual({
      publication_key: key,
      published: 4,
      failed: 1,
      expired: 1,
      fee_lamports_total: 21_000,
      rent_lamports_total: 2_000_000,
      balance_lamports: 10_000_000 - 10_000,
      low_balance: false,
    })
  })

  it('VER-20 estimates the anchors left from the recent cost of anchors, with their rent', async () => {
    const { house, key } = await openWith(harbour, 1_900_000, { DATABASE_URL: database.url })
    // Three became final: 5,000 each in fees, and 2,500,000 locked by one of them.
    const { body } = await healthWithBalance(house)
    const left = Math.floor((1_900_000 - 890_880) / Math.floor((3 * 5_000 + 2_500_000) / 3))
    expect(left).toBe(1)
    expect(body.warnings).toEqual([`publication key ${key} holds 1900000 lamports: about ${left} more anchors`])
  })

  it('metrics show the balance and whether it is low, and nothing while no node answers', async () => {
    const { house } = await openWith(harbour, 1_900_000, { DATABASE_URL: database.url })
    await healthWithBalance(house)
    const low = await scrape(house.gateway.url)
    expect(low.value('svc_publication_balance_lamports')).toBe(1_900_000)
    expect(low.value('svc_publication_low_balance')).toBe(1)
    harbour.node.behave(DOWN)
    const later = () => {
      harbour.clock.advance(3600)
      return scrape(house.gateway.url)
    }
    await expect.poll(async () => (await later()).families).not.toContain('svc_publication_balance_lamports')
    const blind = await later()
    expect(blind.families).not.toContain('svc_publication_balance_lamports')
    expect(blind.families).not.toContain('svc_publication_low_balance')
    expect(blind.value('svc_anchor_fee_lamports_total')).toBe(21_000)
    expect((await house.send<AttestHealth>('GET', '/v1/internal/attest-health')).body.anchors).toMatchObject({
      balance_lamports: null,
      low_balance: false,
    })
  })
})
