import type { VerifyAnswer } from '@svc/api/evidence'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, type Place, type Workshop } from '../work-stack.ts'

let workshop: Workshop
beforeAll(async () => {
  workshop = await openWorkshop()
})
afterAll(() => workshop.close())
afterEach(() => workshop.leaveAll())

const QUIET = { watch: { every_hours: 24, read_bytes: false } }
const VERIFY = /\/v1\/storage\/verify/

/** Another statement of a locker whose one file is another each time; its digest. */
async function attest({ client, locker, put }: Place): Promise<string> {
  await put('file', `${Math.random()}`)
  const { attestation } = await client.attest(locker)
  return attestation.envelope!.statement_digest
}

/** A place that was watched when it had so many statements; their digests. */
async function attestedPlace(count: number): Promise<{ place: Place; digests: string[] }> {
  const place = await workshop.place(QUIET)
  const digests: string[] = []
  for (let i = 0; i < count; i++) digests.push(await attest(place))
  await workshop.soon()
  expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline'])
  return { place, digests }
}

/** What was found about statements since the last look. */
async function statementNews(place: Place) {
  return (await place.news()).filter(([kind]) => kind.startsWith('statement'))
}

/** The gateway forgets statements, as one that has something to hide would. */
async function forgetStatements({ locker: { receipt_id } }: Place, ...sequences: number[]): Promise<void> {
  const { db } = workshop.gateway.context.database
  await db.deleteFrom('statements').where('receipt_id', '=', receipt_id).where('sequence', 'in', sequences).execute()
}

/** The newest statement is this one, with a status that it did not have, so that no answer is kept. */
async function setNewest({ locker: { receipt_id } }: Place, sequence: number): Promise<void> {
  const { db } = workshop.gateway.context.database
  const newest = db.updateTable('attestations').set({ sequence, status: 'complete' })
  await newest.where('receipt_id', '=', receipt_id).execute()
}

async function forgetAllStatements(place: Place): Promise<void> {
  const { db } = workshop.gateway.context.database
  await db.deleteFrom('statements').where('receipt_id', '=', place.locker.receipt_id).execute()
  await db.deleteFrom('attestations').where('receipt_id', '=', place.locker.receipt_id).execute()
}

describe('statements that a watch sees', () => {
  it('AGENT-04 are part of what was there the first time, and new after that', async () => {
    const place = await workshop.place(QUIET)
    await attest(place)
    await attest(place)
    await workshop.soon()
    expect(await place.news()).toEqual([['baseline', expect.objectContaining({ statement: 2 })]])
    const third = await attest(place)
    await workshop.nextDay()
    expect(await statementNews(place)).toEqual([['statement_new', { sequence: 3, digest: third }]])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
  })

  it('AGENT-04 are new one after the other, also the first of all', async () => {
    const { place } = await attestedPlace(0)
    const digests = [await attest(place), await attest(place), await attest(place)]
    await workshop.nextDay()
    expect(await statementNews(place)).toEqual(
      digests.map((digest, i) => ['statement_new', { sequence: i + 1, digest }]),
    )
  })

  it('AGENT-04 are lost where the gateway goes back to an older one, or has none; told once', async () => {
    const { place } = await attestedPlace(2)
    await forgetStatements(place, 2)
    await setNewest(place, 1)
    await workshop.nextDay()
    expect(await place.news()).toEqual([['statement_lost', { last_seen: 2, newest: 1 }]])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
    await forgetAllStatements(place)
    await workshop.nextDay()
    expect(await place.news()).toEqual([['statement_lost', { last_seen: 2, newest: null }]])
  })

  it('AGENT-04 are lost where one in between cannot be read; the others are followed', async () => {
    const { place } = await attestedPlace(1)
    await attest(place)
    await attest(place)
    await attest(place)
    await forgetStatements(place, 2)
    await workshop.nextDay()
    expect((await statementNews(place)).map(([kind, detail]) => `${kind} ${detail.sequence}`)).toEqual([
      'statement_lost 2',
      'statement_new 3',
      'statement_new 4',
    ])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
  })

  it('AGENT-04 are rewritten where the same number has another digest', async () => {
    const { place, digests } = await attestedPlace(1)
    await forgetAllStatements(place)
    const other = await attest(place)
    await setNewest(place, 1)
    await workshop.nextDay()
    const rewritten = ['statement_rewritten', { sequence: 1, before: digests[0], after: other }]
    expect(await statementNews(place)).toEqual([rewritten])
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
  })

  it('AGENT-04 are rewritten where the next one does not name the one that was seen', async () => {
    const { place, digests } = await attestedPlace(2)
    await forgetAllStatements(place)
    const others = [await attest(place), await attest(place), await attest(place)]
    await workshop.nextDay()
    expect(await statementNews(place)).toEqual([
      ['statement_rewritten', { sequence: 2, before: digests[1], after: others[1] }],
    ])
    await attest(place)
    await workshop.nextDay()
    expect((await statementNews(place)).map(([kind]) => kind)).toEqual(['statement_new'])
  })

  it.each<[string, (answer: VerifyAnswer) => VerifyAnswer]>([
    ['is not about its files', (answer) => changed(answer, { files: filesOf(answer, { size_bytes: 7 }) })],
    ['is about no files', (answer) => changed(answer, { files: [] })],
    ['lists none', (answer) => changed(answer, { files: null as never })],
    ['has broken numbers', (answer) => changed(answer, { files: filesOf(answer, { size_bytes: 0.5 }) })],
    ['is another than was signed', (answer) => changed(answer, { envelope: forged(answer, { sequence: 9 }) })],
    ['is of another receipt', (answer) => changed(answer, { receipt_id: 'rcpt_other' })],
    ['comes with a changed receipt', (answer) => ({ ...answer, receipt: { ...answer.receipt, units: 99 } })],
  ])('AGENT-04 are untrue where what is shown %s', async (_, lie) => {
    const { place } = await attestedPlace(1)
    workshop.between.always(VERIFY, { lie })
    await workshop.nextDay()
    expect(await place.news()).toEqual([['statement_untrue', { reason: expect.any(String) }]])
  })

  it('AGENT-04 are untrue once, for as long as it goes on, and again after they were true', async () => {
    const { place } = await attestedPlace(1)
    for (let time = 0; time < 2; time++) {
      workshop.between.always(VERIFY, { lie: (answer: VerifyAnswer) => changed(answer, { file_count: 99 }) })
      await workshop.nextDay()
      expect((await place.news()).map(([kind]) => kind)).toEqual(['statement_untrue'])
      await workshop.nextDay()
      expect(await place.news()).toEqual([])
      workshop.between.behave()
      await workshop.nextDay()
      expect(await place.news()).toEqual([])
    }
  })

  it('AGENT-04 are untrue where another is shown than was asked for', async () => {
    const { place } = await attestedPlace(1)
    await attest(place)
    await attest(place)
    const first = await place.client.verify(place.locker.receipt_id, { sequence: 1 })
    workshop.between.always(/sequence=2/, { lie: () => first })
    await workshop.nextDay()
    expect((await statementNews(place)).map(([kind, detail]) => `${kind} ${detail.sequence}`)).toEqual([
      'statement_untrue 2',
      'statement_new 3',
    ])
  })
})

type Attestation = NonNullable<VerifyAnswer['attestation']>

function changed(answer: VerifyAnswer, changes: Partial<Attestation>): VerifyAnswer {
  return { ...answer, attestation: { ...answer.attestation!, ...changes } }
}

function filesOf({ attestation }: VerifyAnswer, changes: { size_bytes: number }): Attestation['files'] {
  return attestation!.files.map((file) => ({ ...file, ...changes }))
}

function forged({ attestation }: VerifyAnswer, changes: { sequence: number }): NonNullable<Attestation['envelope']> {
  const { envelope } = attestation!
  return { ...envelope!, body: { ...envelope!.body, ...changes } }
}
