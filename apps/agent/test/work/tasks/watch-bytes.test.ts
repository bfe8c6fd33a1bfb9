import { createHash } from 'node:crypto'
import { truncate } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, type Place, type Workshop } from '../work-stack.ts'

const MAX_BYTES = 10

let workshop: Workshop
beforeAll(async () => {
  workshop = await openWorkshop({ WATCH_MAX_BYTES: `${MAX_BYTES}` })
})
afterAll(() => workshop.close())
afterEach(() => workshop.leaveAll())

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A place that was watched once, with these files. */
async function watchedPlace(files: Record<string, string>): Promise<Place> {
  const place = await workshop.place()
  for (const [filename, text] of Object.entries(files)) await place.put(filename, text)
  await workshop.soon()
  expect(await place.news()).toEqual([['baseline', expect.anything()]])
  return place
}

const lastSummary = async (place: Place) => JSON.parse((await place.runs())[0]!.summary)

describe('bytes that are read back', () => {
  it('AGENT-04 are found to differ, once for each way in which they do, and again after they were right', async () => {
    const place = await watchedPlace({ file: 'right', fine: 'fine' })
    const wrong = { filename: 'file', sha256: sha256('right'), size_bytes: 5 }
    const differs = (text: string) => ['bytes_differ', { ...wrong, actual: sha256(text) }]

    await workshop.overwrite(place, 'file', 'wrong')
    await workshop.nextDay()
    expect(await place.news()).toEqual([differs('wrong')])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
    await workshop.overwrite(place, 'file', 'WRONG')
    await workshop.nextDay()
    expect(await place.news()).toEqual([differs('WRONG')])
    await workshop.overwrite(place, 'file', 'right')
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
    await workshop.overwrite(place, 'file', 'wrong')
    await workshop.nextDay()
    expect(await place.news()).toEqual([differs('wrong')])
    expect(await workshop.read(place.owner, place.delegationId)).toMatchObject({ findings: 4, alerts: 3 })
  })

  it('AGENT-04 are found missing, whole or in part, once', async () => {
    const place = await watchedPlace({ whole: 'whole', part: 'part' })
    await workshop.lose(place, 'whole')
    await truncate(await workshop.bytesOf(place, 'part'), 2)
    await workshop.nextDay()
    expect(await place.news()).toEqual([
      ['bytes_missing', { filename: 'part', sha256: sha256('part'), size_bytes: 4 }],
      ['bytes_missing', { filename: 'whole', sha256: sha256('whole'), size_bytes: 5 }],
    ])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
    // Others under the same name are another loss.
    await place.put('whole', 'more')
    await workshop.lose(place, 'whole')
    await workshop.nextDay()
    expect((await place.news()).map(([kind]) => kind)).toEqual(['file_changed', 'bytes_missing'])
  })

  it('AGENT-04 of which there are more than there should be are not read to the end', async () => {
    const place = await watchedPlace({ file: 'right' })
    workshop.between.always(/^\/f\//, { bytes: () => Buffer.alloc(5_000_000) })
    await workshop.nextDay()
    expect(await place.news()).toEqual([['bytes_differ', expect.objectContaining({ filename: 'file', actual: null })]])
  })

  it('AGENT-04 that the owner replaced or removed since the list was read are no alert', async () => {
    const place = await watchedPlace({ gone: 'gone', new: 'old' })
    workshop.meanwhile(async () => {
      await place.put('new', 'new!')
      await place.client.remove(place.locker, 'gone')
    })
    await workshop.nextDay()
    expect(await place.news()).toEqual([
      ['file_gone', { filename: 'gone', sha256: sha256('gone') }],
      ['file_changed', { filename: 'new', before: sha256('old'), after: sha256('new!'), size_bytes: 4 }],
    ])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
  })

  it('AGENT-04 are not read where the owner wants none read', async () => {
    const place = await workshop.place({ watch: { every_hours: 24, read_bytes: false } })
    await place.put('file', 'right')
    await workshop.overwrite(place, 'file', 'wrong')
    await workshop.soon()
    expect(await place.news()).toEqual([['baseline', expect.anything()]])
    expect(await lastSummary(place)).not.toHaveProperty('read')
  })

  it('AGENT-04 that cannot be read today keep no others waiting, and are no finding', async () => {
    const place = await watchedPlace({ a: 'a', b: 'b', c: 'c' })
    const unavailable = { error: 'STORAGE_UNAVAILABLE', message: 'the store is away' }
    workshop.between.always(/"filenames":\["a"\]/, { answer: { status: 503, body: unavailable } })
    await workshop.overwrite(place, 'c', 'C')
    await workshop.nextDay()
    expect(await place.news()).toEqual([['bytes_differ', expect.objectContaining({ filename: 'c' })]])
    expect(await lastSummary(place)).toMatchObject({ read: 3, unreadable: 1 })
    expect((await place.runs())[0]).toMatchObject({ outcome: 'done' })
  })
})

describe('a name that may not be asked for', () => {
  it('AGENT-04 keeps no others from being read', async () => {
    const place = await watchedPlace({ a: 'a', b: 'b' })
    const { db } = workshop.gateway.context.database
    const inLocker = db.updateTable('files').where('locker_id', '=', place.locker.locker_id)
    await inLocker.set({ filename: '.hidden' }).where('filename', '=', 'a').execute()
    await workshop.lose(place, 'b')
    await workshop.nextDay()
    expect((await place.news()).map(([kind]) => kind)).toEqual(['file_new', 'file_gone', 'bytes_missing'])
    expect(await lastSummary(place)).toMatchObject({ read: 2, unreadable: 1 })
  })
})

describe('how many bytes a watch reads', () => {
  const readAt = async (place: Place) => {
    const rows = await workshop.context.database.db
      .selectFrom('seen_files')
      .select(['filename', 'read_at'])
      .where('delegation_id', '=', place.delegationId)
      .execute()
    return new Map(rows.map(({ filename, read_at }) => [filename, read_at]))
  }

  it('AGENT-04 is limited: the least recently read come first, and one beyond all limits never', async () => {
    const place = await watchedPlace({ a: '1234', b: '1234', c: '1234', huge: 'x'.repeat(MAX_BYTES + 1) })
    const turns: string[][] = []
    for (let day = 0; day < 4; day++) {
      const now = Math.floor(workshop.clock.now() / 1000)
      turns.push([...(await readAt(place))].filter(([, at]) => at === now).map(([filename]) => filename))
      expect(await lastSummary(place)).toMatchObject({ read: 2, bytes_read: 8 })
      await workshop.nextDay()
    }
    // The clock stands: of those that were read on the same day, the first by name comes first.
    expect(turns.map((files) => files.toSorted().join())).toEqual(['a,b', 'a,c', 'a,b', 'a,c'])
    expect((await readAt(place)).get('huge')).toBeNull()
  })

  it('AGENT-04 may be reached, and what is new is read first', async () => {
    const place = await watchedPlace({ a: '12345', b: '12345' })
    expect(await lastSummary(place)).toMatchObject({ read: 2, bytes_read: MAX_BYTES })
    await place.put('z', '1234567890')
    await workshop.overwrite(place, 'z', '0987654321')
    await workshop.nextDay()
    expect((await place.news()).map(([kind]) => kind)).toEqual(['file_new', 'bytes_differ'])
    expect(await lastSummary(place)).toMatchObject({ read: 1, bytes_read: MAX_BYTES })
  })
})
