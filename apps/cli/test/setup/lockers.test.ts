import { lockerId } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'
import { findLocker, type KnownLocker } from '../../src/setup/known-lockers.ts'
import { jsonLines, useHome } from '../host.ts'

const RECEIPTS = ['a', 'b', 'c'].map((digit) => `rcpt_${digit.repeat(32)}`) as [string, string, string]
const HERE = 'https://here.example'

function known(receipt_id: string, more: Partial<KnownLocker> = {}): KnownLocker {
  const locker = { receipt_id, locker_id: lockerId(receipt_id), gateway: HERE, owner: null, name: null, added_at: '' }
  return { ...locker, ...more }
}

describe('finding a locker', () => {
  const photos = known(RECEIPTS[0], { name: 'photos' })
  const other = known(RECEIPTS[1])
  const elsewhere = known(RECEIPTS[2], { gateway: 'https://there.example', name: 'photos' })

  it('works by name, locker id and receipt id, and by an unknown receipt id', () => {
    const all = [photos, other, elsewhere]
    for (const wanted of ['photos', photos.locker_id, photos.receipt_id])
      expect(findLocker(all, HERE, wanted)).toBe(photos)
    expect(findLocker([], HERE, RECEIPTS[1])).toMatchObject({ locker_id: lockerId(RECEIPTS[1]), owner: null })
  })

  it('works without a name if the gateway has only one', () => {
    expect(findLocker([photos, elsewhere], HERE, null)).toBe(photos)
    expect(() => findLocker([photos, other], HERE, null)).toThrow('name one of the 2 lockers')
    expect(() => findLocker([elsewhere], HERE, null)).toThrow('no locker is known')
  })

  it('fails for an ambiguous or unknown name', () => {
    const twin = known(RECEIPTS[1], { name: 'photos' })
    expect(() => findLocker([photos, twin], HERE, 'photos')).toThrow('several lockers')
    expect(() => findLocker([photos], HERE, 'locker_000000000000')).toThrow('no locker "locker_000000000000"')
  })
})

describe('svc lockers', () => {
  const home = useHome({ SVC_GATEWAY: HERE })

  it('remembers, lists and forgets lockers', async () => {
    expect(await home.svc(['lockers'])).toMatchObject({ exitCode: 0, stdout: '' })
    await home.svc(['lockers', 'add', RECEIPTS[0], '--name', 'photos'])
    await home.svc(['lockers', 'add', RECEIPTS[1]])
    const { stdout } = await home.svc(['lockers', '--json'])
    expect(jsonLines(stdout)).toMatchObject([
      { receipt_id: RECEIPTS[0], locker_id: lockerId(RECEIPTS[0]), name: 'photos', gateway: HERE },
      { receipt_id: RECEIPTS[1], name: null },
    ])
    expect((await home.svc(['lockers'])).stdout).toMatch(/^NAME {4}LOCKER/)
    expect((await home.svc(['lockers', 'rm', RECEIPTS[0]])).stdout).toContain('was removed from the list')
    expect((await home.svc(['lockers', 'rm', RECEIPTS[0]])).stdout).toContain('was not in the list')
    expect(jsonLines((await home.svc(['lockers', '--json'])).stdout)).toHaveLength(1)
    await home.svc(['lockers', 'add', RECEIPTS[0], '--name', 'photos'])
    for (const wanted of ['photos', lockerId(RECEIPTS[1])])
      expect((await home.svc(['lockers', 'rm', wanted])).stdout).toBe(`${wanted} was removed from the list\n`)
    expect((await home.svc(['lockers', '--json'])).stdout).toBe('')
  })

  it.each([['../../etc/passwd'], ['rcpt_x'], ['locker_000000000000']])(
    'rejects %s as the receipt id of a locker',
    async (text) => {
      expect((await home.svc(['lockers', 'add', text])).exitCode).toBe(2)
      expect((await home.svc(['lockers', 'rm', text])).exitCode).toBe(2)
    },
  )
})
