import { createHash } from 'node:crypto'
import { truncate } from 'node:fs/promises'
import { writable } from '@svc/devnet/writable'
import { describe, expect, it } from 'vitest'
import { type TestDelegation, useWorkStack } from '../work-stack.ts'

const MAX_BYTES = 10

const stack = useWorkStack(() => ({ WATCH_MAX_BYTES: `${MAX_BYTES}` }))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A delegation that was watched once, with these files. */
async function delegateWatched(files: Record<string, string>): Promise<TestDelegation> {
  const delegation = await stack.addDelegation()
  for (const [filename, text] of Object.entries(files)) await delegation.put(filename, text)
  await stack.nextMinute()
  expect(await delegation.newFindings()).toEqual([['baseline', expect.anything()]])
  return delegation
}

describe('the bytes of files', () => {
  it('AGENT-04 are reported as different once per change, and again after they were right', {
    tags: ['nightly'],
  }, async () => {
    const delegation = await delegateWatched({ file: 'right', fine: 'fine' })
    const wrong = { filename: 'file', sha256: sha256('right'), size_bytes: 5 }
    const differs = (text: string) => ['bytes_differ', { ...wrong, actual: sha256(text) }]

    await stack.overwriteStored(delegation, 'file', 'wrong')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([differs('wrong')])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
    await stack.overwriteStored(delegation, 'file', 'WRONG')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([differs('WRONG')])
    await stack.overwriteStored(delegation, 'file', 'right')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
    await stack.overwriteStored(delegation, 'file', 'wrong')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([differs('wrong')])
    expect(await stack.readDelegation(delegation.owner, delegation.id)).toMatchObject({ findings: 4, alerts: 3 })
  })

  it('AGENT-04 are reported as missing once, completely or partly', async () => {
    const delegation = await delegateWatched({ whole: 'whole', part: 'part' })
    await stack.deleteStored(delegation, 'whole')
    await truncate(await stack.storedPath(delegation, 'part'), 2)
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([
      ['bytes_missing', { filename: 'part', sha256: sha256('part'), size_bytes: 4 }],
      ['bytes_missing', { filename: 'whole', sha256: sha256('whole'), size_bytes: 5 }],
    ])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
    // Different bytes under the same name are another loss.
    await delegation.put('whole', 'more')
    await stack.deleteStored(delegation, 'whole')
    await stack.nextDay()
    expect(await delegation.newKinds()).toEqual(['file_changed', 'bytes_missing'])
  })

  it('AGENT-04 are not read to the end when there are more of them than recorded', async () => {
    const delegation = await delegateWatched({ file: 'right' })
    stack.proxy.always(/^\/f\//, { bytes: () => Buffer.alloc(5_000_000) })
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([
      ['bytes_differ', expect.objectContaining({ filename: 'file', actual: null })],
    ])
  })

  it('AGENT-04 cause no alert when the owner replaced or removed the file during the run', async () => {
    const delegation = await delegateWatched({ gone: 'gone', new: 'old' })
    stack.duringNextWatch(async () => {
      await delegation.put('new', 'new!')
      await delegation.client.remove(delegation.locker, 'gone')
    })
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([
      ['file_gone', { filename: 'gone', sha256: sha256('gone') }],
      ['file_changed', { filename: 'new', before: sha256('old'), after: sha256('new!'), size_bytes: 4 }],
    ])
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
  })

  it('AGENT-04 are not read when the owner has turned that off', async () => {
    const delegation = await stack.addDelegation({ watch: { every_hours: 24, read_bytes: false } })
    await delegation.put('file', 'right')
    await stack.overwriteStored(delegation, 'file', 'wrong')
    await stack.nextMinute()
    expect(await delegation.newFindings()).toEqual([['baseline', expect.anything()]])
    expect(await delegation.lastSummary()).not.toHaveProperty('read')
  })

  it('AGENT-04 cause no finding when they are unavailable, and other files are still read', {
    tags: ['nightly'],
  }, async () => {
    const delegation = await delegateWatched({ a: 'a', b: 'b', c: 'c' })
    const unavailable = { error: 'STORAGE_UNAVAILABLE', message: 'the store is unavailable' }
    stack.proxy.always(/"filenames":\["a"\]/, { answer: { status: 503, body: unavailable } })
    await stack.overwriteStored(delegation, 'c', 'C')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([['bytes_differ', expect.objectContaining({ filename: 'c' })]])
    expect(await delegation.lastSummary()).toMatchObject({ read: 3, unreadable: 1 })
    expect((await delegation.runs())[0]).toMatchObject({ outcome: 'done' })
  })
})

describe('a filename that cannot be requested', () => {
  it('AGENT-04 does not prevent other files from being read', { tags: ['nightly'] }, async () => {
    const delegation = await delegateWatched({ a: 'a', b: 'b' })
    const { db } = stack.gateway.context.database
    const inLocker = writable(db).updateTable('files').where('locker_id', '=', delegation.locker.locker_id)
    await inLocker.set({ filename: '.hidden' }).where('filename', '=', 'a').execute()
    await stack.deleteStored(delegation, 'b')
    await stack.nextDay()
    expect(await delegation.newKinds()).toEqual(['file_new', 'file_gone', 'bytes_missing'])
    expect(await delegation.lastSummary()).toMatchObject({ read: 2, unreadable: 1 })
  })
})

describe('the limit of bytes per watch', () => {
  it('AGENT-04 may be reached exactly, includes new files first, and excludes a file above the limit', async () => {
    const delegation = await delegateWatched({ a: '12345', b: '12345', huge: 'x'.repeat(MAX_BYTES + 1) })
    expect(await delegation.lastSummary()).toMatchObject({ read: 2, bytes_read: MAX_BYTES })
    await delegation.put('z', '1234567890')
    await stack.overwriteStored(delegation, 'z', '0987654321')
    await stack.nextDay()
    expect(await delegation.newKinds()).toEqual(['file_new', 'bytes_differ'])
    expect(await delegation.lastSummary()).toMatchObject({ read: 1, bytes_read: MAX_BYTES })
  })
})
