import type { Alarm, AlarmKind } from '@svc/api/witness'
import { startTestWitness, type TestWitness } from '@svc/devnet/services/witness'
import { writable } from '@svc/devnet/writable'
import { type Checkpoint, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { isSignedBy } from '@svc/protocol/transparency/note'
import { VERSION } from '@svc/protocol/version'
import { createLog } from '@svc/service/program/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { post, requestBody, testLog } from '../requests.ts'

const log = testLog('log.example')
const forked = (size: number) => log.signHead({ size, root: new Uint8Array(32).fill(size) })
const lines: { level: number; kind?: string }[] = []

let witness: TestWitness
beforeAll(async () => {
  const write = (line: string) => void lines.push(JSON.parse(line))
  const recorded = createLog('error', { write, writeSoon: write, flush: () => {} })
  witness = await startTestWitness([log.line], {}, { log: recorded })
  expect((await post(witness.url, await log.request(0, 10))).status).toBe(200)
})
afterAll(() => witness.stop())

const alarms = async (query = ''): Promise<{ alarms: Alarm[]; next: number | null }> =>
  (await fetch(`${witness.url}/alarms${query}`)).json()
const health = async () => (await fetch(`${witness.url}/health`)).json()

describe('the alarms of a witness', { shuffle: false }, () => {
  it('WIT-06 a second root at a cosigned size raises an alarm with both checkpoints, whatever the old size of the request', async () => {
    expect(await alarms()).toEqual({ alarms: [], next: null })
    const { status, text, type } = await post(witness.url, requestBody(10, [], await forked(10)))
    expect([status, type], text).toEqual([409, 'text/plain; charset=utf-8'])
    const other = await log.signHead({ size: 10, root: new Uint8Array(32).fill(99) })
    expect(await post(witness.url, requestBody(3, [], other))).toMatchObject({ status: 409, text: '10\n' })

    const found = (await alarms()).alarms
    expect(found).toMatchObject([
      { kind: 'fork', origin: 'log.example', resolved_at: null },
      { kind: 'fork', origin: 'log.example', resolved_at: null },
    ])
    for (const { evidence } of found) {
      const [one, two] = evidence.map((text) => readCheckpoint(text) as Checkpoint) as [Checkpoint, Checkpoint]
      for (const each of [one, two]) expect(isSignedBy(each.note, log.key)).toBe(true)
      expect(one.size).toBe(two.size)
      expect(one.root).not.toEqual(two.root)
    }
  })

  it('WIT-06 T-106 a checkpoint without a valid proof raises one alarm until it is proven, however often it is sent', async () => {
    const wrong = requestBody(10, [new Uint8Array(32)], await log.checkpoint(12))
    for (let i = 0; i < 3; i++) expect((await post(witness.url, wrong)).status).toBe(422)
    expect((await post(witness.url, requestBody(10, [], await forked(13)))).status).toBe(422)
    expect((await alarms()).alarms.map(({ kind }) => kind)).toEqual(['unproven', 'unproven', 'fork', 'fork'])
    expect(await health()).toMatchObject({ status: 'ok', release: VERSION, open_alarms: 4 })

    expect((await post(witness.url, await log.request(10, 12))).status).toBe(200)
    expect((await alarms()).alarms.map(({ resolved_at }) => resolved_at === null)).toEqual([true, false, true, true])
    expect(await health()).toMatchObject({ open_alarms: 3 })
  })

  it('WIT-06 alarms are returned in pages, newest first, and each was logged once', async () => {
    const first = await alarms('?limit=3')
    expect(first.alarms).toHaveLength(3)
    const rest = await alarms(`?limit=3&before=${first.next}`)
    expect(rest).toMatchObject({ alarms: [{ kind: 'fork' }], next: null })
    expect(lines.map(({ level, kind }) => [level, kind])).toEqual([
      [50, 'fork'],
      [50, 'fork'],
      [50, 'unproven'],
      [50, 'unproven'],
    ])
  })

  it('T-106 the stored alarms of a log are bounded and include the newest fork', async () => {
    const { db } = witness.context.database
    const storedAlarms = async (kind: AlarmKind) =>
      await db.selectFrom('alarms').select(['cause', 'resolved_at']).where('kind', '=', kind).orderBy('id').execute()
    const about = { origin: 'log.example', kind: 'fork' } as const
    const row = { ...about, message: '', evidence: '[]', raised_at: 0, resolved_at: null }
    const rows = Array.from({ length: 998 }, (_, i) => ({ ...row, cause: `${i}` }))
    await writable(db).insertInto('alarms').values(rows).execute()
    const first = (await storedAlarms('fork'))[0]
    const before = lines.length
    for (const root of [1, 2]) {
      const fork = await log.signHead({ size: 12, root: new Uint8Array(32).fill(root) })
      expect((await post(witness.url, requestBody(12, [], fork))).status).toBe(409)
      const found = (await alarms('?limit=3')).alarms
      expect(found.find(({ kind }) => kind === 'fork')?.evidence.at(-1)).toBe(fork)
      expect(await storedAlarms('fork')).toHaveLength(1000)
    }
    expect((await storedAlarms('fork'))[0]).toEqual(first)
    expect(await storedAlarms('too_many')).toEqual([{ cause: 'fork', resolved_at: null }])
    expect(lines.slice(before).map(({ kind }) => kind)).toEqual(['too_many'])

    const unproven = Array.from({ length: 1200 }, (_, i) => {
      return { ...row, kind: 'unproven', cause: `${i}`, resolved_at: 1 } as const
    })
    await writable(db).insertInto('alarms').values(unproven).execute()
    const wrong = requestBody(12, [], await forked(14))
    expect((await post(witness.url, wrong)).status).toBe(422)
    const unproved = await storedAlarms('unproven')
    expect(unproved).toHaveLength(1000)
    expect(unproved.at(-1)).toMatchObject({ cause: expect.stringMatching(/^14 /), resolved_at: null })
    await writable(db).updateTable('alarms').set({ resolved_at: null }).where('kind', '=', 'unproven').execute()
    expect((await post(witness.url, requestBody(12, [], await forked(15)))).status).toBe(422)
    expect((await storedAlarms('unproven')).map(({ cause }) => cause)).toEqual(unproved.map(({ cause }) => cause))
    expect((await storedAlarms('too_many')).map(({ cause }) => cause)).toEqual(['fork', 'unproven'])
    await writable(db).updateTable('alarms').set({ resolved_at: 2 }).where('kind', '=', 'unproven').execute()
    expect((await post(witness.url, requestBody(12, [], await forked(16)))).status).toBe(422)
    expect((await storedAlarms('too_many')).map(({ resolved_at }) => resolved_at === null)).toEqual([true, false])
  })

  it('WIT-09 a page describes the witness in the format of a policy', async () => {
    const answer = await fetch(witness.url)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const page = await answer.text()
    expect(page).toMatch(/^witness witness\.example witness\.example\+[0-9a-f]{8}\+\S+ http/m)
    expect(page.split('\n')).toContain(log.line)
    expect(page).toContain('# size 12, cosigned 20')
    const document = await (await fetch(`${witness.url}/openapi.json`)).json()
    expect(Object.keys(document.paths)).toContain('/add-checkpoint')
    expect(await (await fetch(`${witness.url}/health/live`)).json()).toEqual({ status: 'live' })
  })
})
