import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { compareCodePoints } from '@svc/protocol/order'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { expect, it } from 'vitest'
import type { Bucket } from '../adapters/s3/s3-gateway.ts'
import { encodedKey, openEntryPoints } from './entry-points.ts'
import { lockerRow, pathOf, sendRaw } from './files.ts'

/** Some names of each kind, and the names that a reader is most likely to mistake for others. */
const someOf = (isAccepted: boolean) =>
  HOSTILE_FILENAMES.filter(({ accepted }) => accepted === isAccepted)
    .map(({ name }) => name)
    .filter(
      (name, i) => i % 16 === 5 || ['null', '\u00e9', 'e\u0301', '\ufffea', 'a\uffff', '/a', 'a/./b'].includes(name),
    )

const accepted = someOf(true)
const inOrder = accepted.toSorted(compareCodePoints)

forEachDatabase('an untrusted filename', (database) => {
  const entryPoints = forAllTests(() => openEntryPoints(database.url))
  /** Contains a file for each accepted name, each with its own text. */
  const bucket = forAllTests(() => fill())

  async function fill(): Promise<Bucket> {
    const made = await entryPoints.instance.bucket()
    const { S3 } = await entryPoints.to(made)
    for (const name of accepted) expect((await S3(name, `S3 ${name}`)).status, JSON.stringify(name)).toBe(200)
    return made
  }

  const listed = async (query: Record<string, string> = {}, { locker } = bucket) => {
    const path = `/files?${new URLSearchParams(query)}`
    const { status, body } = await locker.call<{ files: { filename: string }[] }>(['locker:list'], 'GET', path)
    expect(status, path).toBe(200)
    return body.files.map(({ filename }) => filename)
  }

  it('T-06 is stored unchanged by every protocol', { tags: ['nightly'] }, async () => {
    for (const protocol of ['short URL', 'session', 'fetch', 'tus'] as const) {
      const own = await entryPoints.instance.bucket()
      const { [protocol]: put } = await entryPoints.to(own)
      // Endpoints of the same protocol read names alike, so a fifth of the names is enough.
      const names = inOrder.filter((_, i) => protocol === 'tus' || i % 5 === 0)
      for (const name of names) {
        const { status } = await put(name, `${protocol} ${name}`)
        expect([200, 201], `${protocol} ${JSON.stringify(name)}`).toContain(status)
      }
      expect(await listed({}, own), protocol).toEqual(names)
    }
    expect(await listed()).toEqual(inOrder)
  })

  it('T-06 leads to its own bytes, with a header that decodes to it', async () => {
    for (const name of accepted) {
      const shared = await sendRaw(entryPoints.instance, 'GET', `/v1/r/${bucket.locker.receiptId}/f/${pathOf(name)}`)
      const object = await bucket.send('GET', encodedKey(name))
      expect([shared.text, object.text], JSON.stringify(name)).toEqual([`S3 ${name}`, `S3 ${name}`])
      const [, shown = ''] = /filename\*=UTF-8''(\S+)$/.exec(shared.headers['content-disposition'] ?? '') ?? []
      expect(decodeURIComponent(shown)).toBe(name.split('/').at(-1))
    }
  })

  it('T-06 is found by prefix, by search and by S3, and is not mistaken for another', async () => {
    const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    for (const name of accepted) {
      expect(await listed({ prefix: name })).toEqual(inOrder.filter((other) => other.startsWith(name)))
      if (name.length > 200) continue
      expect(await listed({ search: name })).toEqual(inOrder.filter((other) => lower(other).includes(lower(name))))
    }
    const keys = async (query: string) => {
      const { status, text, code } = await bucket.send('GET', '', { target: `/s3/${bucket.name}?${query}` })
      return { status, code, keys: [...text.matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key) }
    }
    const encoded = await keys('encoding-type=url&list-type=2')
    expect(encoded.keys.map((key) => decodeURIComponent(key))).toEqual(inOrder)
    // XML cannot express U+FFFE and U+FFFF, so a list that must be XML is refused instead of showing another name.
    expect(await keys('list-type=2&prefix=a%EF%BF%BF')).toEqual({ status: 400, code: 'InvalidArgument', keys: [] })
    expect((await keys('list-type=2&max-keys=3')).keys).toHaveLength(3)
  })

  it('T-06 is refused by every protocol with the same code when it breaks a rule, and changes nothing', async () => {
    const { instance } = entryPoints
    const bucket = await instance.bucket()
    const puts = Object.entries(await entryPoints.to(bucket))
    await bucket.locker.put('good', 'bytes')
    const before = await lockerRow(instance, bucket.locker)
    for (const name of someOf(false).filter((name) => name !== '' && name.length < 5000)) {
      for (const [protocol, put] of puts) {
        // At S3 a key that ends with a slash is a folder.
        if (protocol === 'S3' && (name.endsWith('/') || name.length > 2000)) continue
        const { status, code } = await put(name, 'x')
        const refusal = name.isWellFormed() ? 'InvalidArgument' : 'InvalidURI'
        const wanted = protocol === 'S3' ? [400, refusal] : [422, 'validation_error']
        expect([status, code], `${protocol} ${JSON.stringify(name)}`).toEqual(wanted)
      }
      const files = [{ filename: 'good', new_filename: name }]
      const renamed = await bucket.locker.call(['locker:write'], 'POST', '/files/rename', { files })
      expect(renamed.status, JSON.stringify(name)).toBe(422)
    }
    expect(await lockerRow(instance, bucket.locker)).toEqual(before)
  })
})
