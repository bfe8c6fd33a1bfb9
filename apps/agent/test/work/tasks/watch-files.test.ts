import { createHash } from 'node:crypto'
import { createFile } from '@svc/api/files'
import { isFindingChain, isFindingSignedBy } from '@svc/protocol/finding'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { seedFiles } from '@svc/testbed/seed-lockers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enqueueDueWork } from '../../../src/work/due-work.ts'
import { LISTED_OF_A_KIND } from '../../../src/work/findings/finding-limits.ts'
import { watch } from '../../../src/work/tasks/watch.ts'
import { DAY, newJob, openWorkshop, type Workshop } from '../work-stack.ts'

let workshop: Workshop
beforeAll(async () => {
  workshop = await openWorkshop()
})
afterAll(() => workshop.close())
afterEach(() => workshop.leaveAll())

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('to watch the files of a locker', () => {
  it('AGENT-04 counts them the first time, and finds later what is new, changed and gone', async () => {
    const place = await workshop.place()
    await place.put('a', 'old')
    await place.put('b/c', 'cc')
    await workshop.soon()
    expect(await place.news()).toEqual([['baseline', { files: 2, total_bytes: 5, statement: null }]])

    await place.put('new', '1234')
    await place.put('a', 'other')
    await place.client.remove(place.locker, 'b/c')
    await workshop.nextDay()
    expect(await place.news()).toEqual([
      ['file_new', { filename: 'new', sha256: sha256('1234'), size_bytes: 4 }],
      ['file_changed', { filename: 'a', before: sha256('old'), after: sha256('other'), size_bytes: 5 }],
      ['file_gone', { filename: 'b/c', sha256: sha256('cc') }],
    ])
    const [last] = await place.runs()
    expect(last).toMatchObject({ task: 'watch', outcome: 'done' })
    expect(JSON.parse(last!.summary)).toMatchObject({ files: 2, new: 1, changed: 1, gone: 1, read: 2, bytes_read: 9 })

    await workshop.nextDay()
    expect(await place.news()).toEqual([])
  })

  it('AGENT-04 begins with an empty locker, whose first file is then new; one without bytes is none', async () => {
    const place = await workshop.place()
    await workshop.soon()
    expect(await place.news()).toEqual([['baseline', { files: 0, total_bytes: 0, statement: null }]])
    await place.client.call(createFile, { params: place.locker, body: { filename: 'promised' } })
    await place.put('first', 'x')
    await workshop.nextDay()
    expect(await place.news()).toEqual([['file_new', expect.objectContaining({ filename: 'first' })]])
  })

  it('AGENT-04 goes through lists of many pages; of very many findings the first are listed, and the rest counted', async () => {
    const place = await workshop.place({ watch: { every_hours: 24, read_bytes: false } })
    await workshop.soon()
    await place.news()
    await seedFiles(workshop.gateway.context, place.locker.locker_id, 1203)
    await workshop.nextDay()
    const found = await place.news()
    expect(new Set(found.map(([kind]) => kind))).toEqual(new Set(['file_new']))
    expect(found.at(-1)).toEqual(['file_new', { more: 1203 - LISTED_OF_A_KIND }])
    const listed = found.slice(0, -1).map(([, { filename }]) => filename)
    expect([new Set(listed).size, listed.toSorted()]).toEqual([LISTED_OF_A_KIND, listed])
    const { db } = workshop.gateway.context.database
    await db.deleteFrom('files').where('locker_id', '=', place.locker.locker_id).execute()
    await workshop.nextDay()
    const gone = await place.news()
    expect(gone.map(([, { filename }]) => filename)).toEqual([...listed, undefined])
    expect(gone.at(-1)).toEqual(['file_gone', { more: 1203 - LISTED_OF_A_KIND }])
    expect(JSON.parse((await place.runs())[0]!.summary)).toMatchObject({ gone: 1203 })
    expect(isFindingChain(await place.log())).toBe(true)
  })

  it('AGENT-04 keeps a log in which every entry is signed and names the one before', async () => {
    const place = await workshop.place()
    await workshop.soon()
    for (const text of ['one', 'two', 'three']) {
      await place.put('file', text)
      await workshop.nextDay()
    }
    const shown = await workshop.read(place.owner, place.delegationId)
    expect(shown.log.map(({ kind }) => kind)).toEqual(['baseline', 'file_new', 'file_changed', 'file_changed'])
    const { body } = await workshop.send<{ signing_key: { public_key_hex: string } }>(
      'GET',
      '/.well-known/svc-agent.json',
    )
    const key = ed25519PublicKeyFromHex(body.signing_key.public_key_hex)!
    const log = await place.log()
    expect([isFindingChain(log), log.every((finding) => isFindingSignedBy(key, finding))]).toEqual([true, true])
    expect(shown).toMatchObject({ findings: 4, alerts: 0 })
  })

  it('AGENT-04 is due again so long after it began', async () => {
    const place = await workshop.place({ watch: { every_hours: 5, read_bytes: true } })
    const begun = workshop.clock.now() + 60_000
    workshop.meanwhile(async () => {
      workshop.clock.advance(600)
      await enqueueDueWork(workshop.context)
      expect((await workshop.context.queue.counts()).watch).toMatchObject({ running: 1, waiting: 0 })
    })
    await workshop.soon()
    const { next_runs, runs } = await workshop.read(place.owner, place.delegationId)
    expect(Date.parse(next_runs.watch!)).toBe(begun + 5 * 3_600_000)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done'])
    workshop.clock.advance(5 * 3600 - 601)
    await workshop.drain()
    expect(await place.runs()).toHaveLength(1)
    workshop.clock.advance(60)
    await workshop.drain()
    expect(await place.runs()).toHaveLength(2)
  })

  it('AGENT-04 finds nothing twice where several do the same run at once', async () => {
    const place = await workshop.place()
    const together = () => {
      workshop.clock.advance(DAY)
      const job = newJob()
      return Promise.allSettled([1, 2, 3].map(() => watch(workshop.context, place.delegationId, job)))
    }
    await together()
    for (const name of ['a', 'b', 'c']) await place.put(name, name)
    await workshop.overwrite(place, 'b', 'B')
    await place.client.attest(place.locker)
    await together()
    const kinds = (await place.log()).map(({ kind, detail }) => `${kind} ${detail.filename ?? ''}`.trim())
    const once = ['baseline', 'bytes_differ b', 'file_new a', 'file_new b', 'file_new c', 'statement_new']
    expect(kinds.toSorted()).toEqual(once)
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
    expect(isFindingChain(await place.log())).toBe(true)
  })
})
