import type { ListedLocker, LockerList } from '@svc/api/lockers'
import { MAX_TAG_CHARACTERS } from '@svc/api/lockers'
import { lockerId } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'
import type { Client } from '../src/client.ts'
import { isGatewayError, UntrueAnswer } from '../src/errors.ts'
import { lockerName, nameObjection } from '../src/locker-names.ts'
import { namedTags } from '../src/lockers.ts'
import { errorOf, newEd25519, newEvm, useTestbed } from './lockers.ts'

const testbed = useTestbed()

async function all(client: Client): Promise<ListedLocker[]> {
  const lockers: ListedLocker[] = []
  for await (const locker of client.lockers()) lockers.push(locker)
  return lockers
}

/** A cursor before the first entry. */
const START = Buffer.from(`9999-01-01T00:00:00Z rcpt_${'f'.repeat(16)}`).toString('base64url')

const changed = (changes: Partial<ListedLocker>) => (body: LockerList) => {
  return { ...body, lockers: body.lockers.map((locker) => ({ ...locker, ...changes })) }
}

describe('the lockers of a wallet', () => {
  it.each([
    ['Ed25519', newEd25519],
    ['EVM', newEvm],
  ])('ADD-16 are found with an %s signer alone', async (_, newSigner) => {
    const signer = newSigner()
    const client = testbed.client({ signer })
    expect(await all(client)).toEqual([])
    const locker = await testbed.locker(signer)
    expect(await all(client)).toMatchObject([{ ...locker, role: 'owner', opened: true }])
    const operator = newEd25519()
    await client.addOperator(locker, operator.address)
    expect(await all(testbed.client({ signer: operator }))).toMatchObject([{ ...locker, role: 'operator' }])
  })

  it('ADD-16 are read page by page', async () => {
    const signer = newEd25519()
    const made = [await testbed.locker(signer), await testbed.locker(signer), await testbed.locker(signer)]
    const asked: string[] = []
    const client = testbed.client({
      signer,
      fetch: (input, init) => {
        asked.push(String(input))
        return fetch(String(input).replace('limit=1000', 'limit=2'), init)
      },
    })
    const found = (await all(client)).map(({ receipt_id }) => receipt_id)
    expect(found.sort()).toEqual(made.map(({ receipt_id }) => receipt_id).sort())
    expect(asked).toEqual([expect.not.stringContaining('cursor='), expect.stringContaining('cursor=')])
  })

  it.each<[string, (body: LockerList) => LockerList]>([
    ['repeats itself', (body) => ({ ...body, next_cursor: START })],
    ['has an empty page', (body) => ({ ...body, lockers: [], next_cursor: START })],
    ['is for another wallet', changed({ owner: 'x' })],
    ['has a path as an id', changed({ receipt_id: '../x', locker_id: lockerId('../x') })],
    ['has ids that do not belong together', changed({ receipt_id: `rcpt_${'0'.repeat(32)}` })],
  ])('ADD-16 are refused if the list %s', async (_, lie) => {
    const signer = newEd25519()
    await testbed.locker(signer)
    testbed.proxy.always(/v1\/lockers\?/, { lie: (body) => lie(body as LockerList) })
    expect(await errorOf(all(testbed.client({ signer })))).toBeInstanceOf(UntrueAnswer)
  })

  it('T-55 a list request is signed for the called address, so that it cannot be forwarded to another service', async () => {
    const signer = newEd25519()
    const { url } = testbed.proxy
    const elsewhere = testbed.client({
      signer,
      baseUrl: 'https://other.example',
      fetch: (input, init) => fetch(String(input).replace('https://other.example', url), init),
    })
    expect(isGatewayError(await errorOf(all(elsewhere)), 'AUDIENCE_MISMATCH')).toBe(true)
  })
})

describe('the name of a locker', () => {
  it('ADD-16 is one of its tags, if there is space for it', () => {
    expect(namedTags(['a'], 'photos')).toEqual(['a', 'name:photos'])
    expect(lockerName(['a', 'name:photos'])).toBe('photos')
    expect(namedTags(undefined, 'n'.repeat(60))).toBeUndefined()
    expect(namedTags(['a'], null)).toEqual(['a'])
    expect(namedTags(Array(32).fill('a'), 'photos')).toHaveLength(32)
    const longest = 'ü'.repeat(59)
    expect(namedTags(undefined, longest)?.map((tag) => [...tag].length)).toEqual([MAX_TAG_CHARACTERS])
    expect([lockerName([]), lockerName(['name:']), lockerName(['names'])]).toEqual([null, null, null])
  })

  it('ADD-16 must be easy to type and display, and must not look like an id', () => {
    for (const name of ['photos', '2026 Q1', 'a.b_c@d+e-f', 'Übung', 'फ़ोटो', '写真', 'n'.repeat(59)])
      expect([name, nameObjection(name)]).toEqual([name, null])
    const unsafe = ['', ' ', '-rf', '.hidden', 'a/b', 'a:b', 'a\nb', 'a\u001b[2J', '📷', 'a\u202eb', '\ud800']
    for (const name of [...unsafe, 'rcpt_1', 'locker_1', 'n'.repeat(60), 'n'.repeat(300)])
      expect([name, nameObjection(name)]).toEqual([name, expect.stringContaining('1 to 59 letters')])
    expect(namedTags(undefined, 'a/b')).toBeUndefined()
  })
})
