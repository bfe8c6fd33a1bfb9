import { createHash } from 'node:crypto'
import { createFile } from '@svc/api/files'
import { seedFiles } from '@svc/devnet/services/seed-lockers'
import { writable } from '@svc/devnet/writable'
import { isFindingChain } from '@svc/protocol/finding'
import { describe, expect, it } from 'vitest'
import { MAX_LISTED_PER_KIND } from '../../../src/work/findings/finding-limits.ts'
import { useWorkStack } from '../work-stack.ts'

const stack = useWorkStack()

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the watch of the files of a locker', () => {
  it('AGENT-04 counts the files first, and later reports new, changed and removed ones', async () => {
    const delegation = await stack.addDelegation()
    await delegation.put('a', 'old')
    await delegation.put('b/c', 'cc')
    await stack.nextMinute()
    expect(await delegation.newFindings()).toEqual([['baseline', { files: 2, total_bytes: 5, statement: null }]])

    await delegation.put('new', '1234')
    await delegation.put('a', 'other')
    await delegation.client.remove(delegation.locker, 'b/c')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([
      ['file_new', { filename: 'new', sha256: sha256('1234'), size_bytes: 4 }],
      ['file_changed', { filename: 'a', before: sha256('old'), after: sha256('other'), size_bytes: 5 }],
      ['file_gone', { filename: 'b/c', sha256: sha256('cc') }],
    ])
    const [last] = await delegation.runs()
    expect(last).toMatchObject({ task: 'watch', outcome: 'done' })
    expect(JSON.parse(last!.summary)).toMatchObject({ files: 2, new: 1, changed: 1, gone: 1, read: 2, bytes_read: 9 })

    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
  })

  it('AGENT-04 reports the first file of an empty locker as new, but no file without bytes', async () => {
    const delegation = await stack.addDelegation()
    await stack.nextMinute()
    expect(await delegation.newFindings()).toEqual([['baseline', { files: 0, total_bytes: 0, statement: null }]])
    await delegation.client.call(createFile, { params: delegation.locker, body: { filename: 'promised' } })
    await delegation.put('first', 'x')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([['file_new', expect.objectContaining({ filename: 'first' })]])
  })

  it('AGENT-04 reads file lists of many pages, lists the first findings and counts the others', async () => {
    const delegation = await stack.addDelegation({ watch: { every_hours: 24, read_bytes: false } })
    await stack.nextMinute()
    await delegation.newFindings()
    await seedFiles(stack.gateway.context, delegation.locker.locker_id, 1203)
    await stack.nextDay()
    const found = await delegation.newFindings()
    expect(new Set(found.map(([kind]) => kind))).toEqual(new Set(['file_new']))
    expect(found.at(-1)).toEqual(['file_new', { more: 1203 - MAX_LISTED_PER_KIND }])
    const listed = found.slice(0, -1).map(([, { filename }]) => filename)
    expect([new Set(listed).size, listed.toSorted()]).toEqual([MAX_LISTED_PER_KIND, listed])
    const { db } = stack.gateway.context.database
    await writable(db).deleteFrom('files').where('locker_id', '=', delegation.locker.locker_id).execute()
    await stack.nextDay()
    const gone = await delegation.newFindings()
    expect(gone.map(([, { filename }]) => filename)).toEqual([...listed, undefined])
    expect(gone.at(-1)).toEqual(['file_gone', { more: 1203 - MAX_LISTED_PER_KIND }])
    expect(await delegation.lastSummary()).toMatchObject({ gone: 1203 })
    expect(isFindingChain(await delegation.log())).toBe(true)
  })

  it('AGENT-04 is due again one period after the run began', async () => {
    const delegation = await stack.addDelegation({ watch: { every_hours: 5, read_bytes: true } })
    const begun = stack.clock.now() + 60_000
    stack.duringNextWatch(async () => {
      stack.clock.advance(600)
      await stack.agent.modules.work.enqueueDue()
      expect((await stack.context.queue.counts()).watch).toMatchObject({ running: 1, waiting: 0 })
    })
    await stack.nextMinute()
    const { next_runs, runs } = await stack.readDelegation(delegation.owner, delegation.id)
    expect(Date.parse(next_runs.watch!)).toBe(begun + 5 * 3_600_000)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done'])
    await stack.advanceAndRun(5 * 3600 - 601)
    expect(await delegation.runs()).toHaveLength(1)
    await stack.advanceAndRun(60)
    expect(await delegation.runs()).toHaveLength(2)
  })
})
