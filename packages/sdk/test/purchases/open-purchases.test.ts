import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import { adoptPurchase, beginPurchase, endPurchase, unfinishedPurchases } from '../../src/purchases/open-purchases.ts'

const buyer = { seller: 'https://gateway.example', address: 'me' }

describe('unfinished purchases', () => {
  it('are resumed by the same order until they end', async () => {
    const journal = memoryJournal()
    const first = await beginPurchase(journal, buyer, '--units 1', 0)
    expect(first).toMatchObject({ since: null, others: [] })
    const again = await beginPurchase(journal, buyer, '--units 1', 5000)
    expect(again).toEqual({ intent: first.intent, since: '1970-01-01T00:00:00.000Z', others: [] })
    await endPurchase(journal, buyer, first.intent)
    expect((await beginPurchase(journal, buyer, '--units 1', 9000)).intent).not.toBe(first.intent)
  })

  it('are separate for each order, buyer and seller, and are listed when the buyer begins another one', async () => {
    const journal = memoryJournal()
    const one = await beginPurchase(journal, buyer, '--units 1', 0)
    const two = await beginPurchase(journal, buyer, '--units 2', 0)
    expect(two).toMatchObject({ since: null, others: [{ intent: one.intent, order: '--units 1' }] })
    for (const otherBuyer of [
      { ...buyer, address: 'you' },
      { ...buyer, seller: 'https://b.example' },
    ])
      expect(await beginPurchase(journal, otherBuyer, '--units 1', 0)).toMatchObject({ since: null, others: [] })
    await endPurchase(journal, buyer, one.intent)
    expect(await beginPurchase(journal, buyer, '--units 2', 0)).toMatchObject({ intent: two.intent, others: [] })
  })

  it('are one purchase if the same order begins several times concurrently', async () => {
    const journal = memoryJournal()
    const begun = await Promise.all([0, 0, 0].map((now) => beginPurchase(journal, buyer, '--units 1', now)))
    expect(new Set(begun.map(({ intent }) => intent)).size).toBe(1)
  })

  it('include those that began with a name, unless the order already has one', async () => {
    const journal = memoryJournal()
    const older = { intent: 'older', order: 'subscribe', begun_at: '2026-01-01T00:00:00Z' }
    await adoptPurchase(journal, buyer, older)
    expect(await beginPurchase(journal, buyer, 'subscribe', 0)).toMatchObject({ intent: 'older', others: [] })
    await adoptPurchase(journal, buyer, { ...older, intent: 'oldest' })
    expect(await unfinishedPurchases(journal, buyer)).toEqual([older])
  })
})
