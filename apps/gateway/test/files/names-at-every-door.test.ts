import type { EvidenceBundle, InclusionProof, RedactedBundle } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { utf8 } from '@svc/protocol/bytes'
import type { DsseEnvelope } from '@svc/protocol/dsse'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { compareCodePoints } from '@svc/protocol/order'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { seedStatement } from '@svc/testbed/seed-statements'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Doors, encodedKey, openDoors } from './doors.ts'
import { callRaw, lockerRow, pathOf, sendRaw } from './files.ts'

/** Each kind of name is in the list three times. The named ones are those that some reader takes for others. */
const someOf = (isAccepted: boolean) =>
  HOSTILE_FILENAMES.filter(({ accepted }) => accepted === isAccepted)
    .map(({ name }) => name)
    .filter(
      (name, i) => i % 16 === 5 || ['null', '\u00e9', 'e\u0301', '\ufffea', 'a\uffff', '/a', 'a/./b'].includes(name),
    )

const accepted = someOf(true)
const inOrder = accepted.toSorted(compareCodePoints)

forEachDatabase('a name that a stranger chose', (database) => {
  let doors: Doors

  beforeAll(async () => {
    doors = await openDoors(database.url)
  })
  afterAll(() => doors.close())

  const listed = async (query = '') => {
    const path = `/files${query}`
    const { status, body } = await doors.bucket.locker.call<{ files: { filename: string }[] }>(
      ['locker:list'],
      'GET',
      path,
    )
    expect(status, query).toBe(200)
    return body.files.map(({ filename }) => filename)
  }
  const read = async <Body>(path: string, ...query: [string, string][]) => {
    const pairs = new URLSearchParams([['receipt_id', doors.bucket.locker.receiptId], ...query])
    const { status, body } = await doors.house.send<Body>('GET', `/v1/storage/${path}?${pairs}`)
    expect(status, `${path} ${JSON.stringify(query)}`).toBe(200)
    return body
  }

  it('T-120 is stored by every door under exactly that name', async () => {
    const few = inOrder.filter((_, i) => i % 5 === 0)
    for (const [door, put] of Object.entries(doors.put)) {
      // Those of one kind of request read names alike.
      const names = door === 'tus' || door === 'S3' ? inOrder : few
      for (const name of names) {
        const { status } = await put(name, `${door} ${name}`)
        expect([200, 201], `${door} ${JSON.stringify(name)}`).toContain(status)
      }
      expect(await listed(), door).toEqual(names)
    }
  })

  it('T-120 leads to its own bytes, with a header that decodes to it', async () => {
    const { house, bucket } = doors
    for (const name of accepted) {
      const shared = await sendRaw(house, 'GET', `/v1/r/${bucket.locker.receiptId}/f/${pathOf(name)}`)
      const object = await bucket.send('GET', encodedKey(name))
      const texts = [shared.text, object.text]
      expect(texts, JSON.stringify(name)).toEqual([`S3 ${name}`, `S3 ${name}`])
      const [, shown = ''] = /filename\*=UTF-8''(\S+)$/.exec(shared.headers['content-disposition'] ?? '') ?? []
      expect(decodeURIComponent(shown)).toBe(name.split('/').at(-1))
    }
  })

  it('T-120 is found by prefix, by search and by S3, and no other is taken for it', async () => {
    for (const name of accepted) {
      const [prefixed, found] = await Promise.all([
        listed(`?${new URLSearchParams({ prefix: name })}`),
        name.length > 200 ? [name] : listed(`?${new URLSearchParams({ search: name })}`),
      ])
      expect(prefixed, JSON.stringify(name)).toEqual(inOrder.filter((other) => other.startsWith(name)))
      expect(found, JSON.stringify(name)).toEqual(
        inOrder.filter((other) => asciiLower(other).includes(asciiLower(name))),
      )
    }
    const keys = async (query: string) => {
      const { status, text, code } = await doors.bucket.send('GET', '', { target: `/s3/${doors.bucket.name}?${query}` })
      return { status, code, keys: [...text.matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key) }
    }
    const encoded = await keys('encoding-type=url&list-type=2')
    expect(encoded.keys.map((key) => decodeURIComponent(key))).toEqual(inOrder)
    // XML has no form for U+FFFE and U+FFFF: a list that must be XML shows no other name in their place.
    expect(await keys('list-type=2&prefix=a%EF%BF%BF')).toEqual({ status: 400, code: 'InvalidArgument', keys: [] })
    expect((await keys('list-type=2&max-keys=3')).keys).toHaveLength(3)
  })

  it('T-120 stands in the statement, in bundles, proofs and envelopes as it is, and the bundle verifies', async () => {
    const { house, bucket } = doors
    await seedStatement(house.gateway.context, await lockerRow(house, bucket.locker), { databaseUrl: database.url })
    const bundle = await read<EvidenceBundle>('evidence-bundle')
    expect(bundle.files.map(({ filename }) => filename)).toEqual(inOrder)
    const verified = await verifyBundle([utf8(JSON.stringify(bundle))])
    expect(verified).toMatchObject({ refused: null, failed: [], counted: { files: accepted.length } })
    for (const name of accepted.filter((_, i) => i % 4 === 0)) {
      const proof = await read<InclusionProof>('merkle-proof', ['filename', name])
      expect(proof).toMatchObject({ filename: name })
      const redacted = await read<RedactedBundle>('redacted-bundle', ['filename', name])
      expect(redacted.files?.map(({ filename }) => filename)).toEqual([name])
      const { payload } = await read<DsseEnvelope>('dsse', ['filename', name])
      expect(JSON.parse(Buffer.from(payload, 'base64').toString()).subject).toMatchObject([{ name }])
    }
  })

  it('T-120 is kept by copies and renames, and gone after deletion', { tags: ['nightly'] }, async () => {
    const { house, bucket } = doors
    const { locker, name: own } = bucket
    for (const name of accepted.filter((_, i) => i % 3 === 0)) {
      const [copy, moved] = [`copy/${name}`, `move/${name}`]
      if (filenameProblem(copy, DEFAULT_SYSTEM_PREFIX) !== null) continue
      const headers = { 'x-amz-copy-source': `/${own}/${encodedKey(name)}` }
      expect((await bucket.send('PUT', encodedKey(copy), { headers })).status, JSON.stringify(name)).toBe(200)
      const files = [{ filename: name, new_filename: moved }]
      const { body } = await locker.call(['locker:write'], 'POST', '/files/rename', { files })
      expect(body, JSON.stringify(name)).toMatchObject({ files })
    }
    const names = await listed()
    const isMoved = (name: string) => /^(copy|move)\//.test(name)
    expect(names.filter((name) => name.startsWith('copy/')).map((name) => name.replace('copy', 'move'))).toEqual(
      names.filter((name) => name.startsWith('move/')),
    )
    expect(names.length - names.filter(isMoved).length / 2).toBe(accepted.length)
    for (const name of names) {
      const path = `/v1/lockers/${own}/files/${pathOf(name)}`
      const gone = await callRaw(house, locker.owner, { method: 'DELETE', path, ops: ['locker:write'], lockerId: own })
      expect(gone.status, JSON.stringify(name)).toBe(200)
    }
    expect([await listed(), (await lockerRow(house, locker)).file_count]).toEqual([[], 0])
  })

  it('T-120 is refused by every door with its one code, where it breaks a rule, and changes nothing', async () => {
    const { house, bucket } = doors
    await bucket.locker.put('good', 'bytes')
    const before = await lockerRow(house, bucket.locker)
    for (const name of someOf(false).filter((name) => name !== '' && name.length < 5000)) {
      for (const [door, put] of Object.entries(doors.put)) {
        // A key with a slash at its end is a folder at S3.
        if (door === 'S3' && (name.endsWith('/') || name.length > 2000)) continue
        const { status, code } = await put(name, 'x')
        const refusal = name.isWellFormed() ? 'InvalidArgument' : 'InvalidURI'
        const wanted = door === 'S3' ? [400, refusal] : [422, 'validation_error']
        expect([status, code], `${door} ${JSON.stringify(name)}`).toEqual(wanted)
      }
      const files = [{ filename: 'good', new_filename: name }]
      const renamed = await bucket.locker.call(['locker:write'], 'POST', '/files/rename', { files })
      expect(renamed.status, JSON.stringify(name)).toBe(422)
    }
    expect(await lockerRow(house, bucket.locker)).toEqual(before)
  })
})

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
